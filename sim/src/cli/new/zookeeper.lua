-- NAME: a queue of ephemeral sequential nodes in ZooKeeper. Try it:
--
--   fencepost --lock NAME.lua --seed 2 --fault pause
--   fencepost sweep --lock NAME.lua --seeds 0..200 --fault pause,partition,restart
--
-- docs/lock-in-lua.md has every function that a script can use.

-- acquire waits by itself: the host calls it once.
lock = { deployment = "zookeeper", waits = true, fair = true }

local function enter(parent)
  local entered, path = pcall(zookeeper.create, parent .. "/node-", "ephemeral_sequential")
  if entered then return path end
  if path.code ~= "NoNode" then error(path) end
  pcall(zookeeper.create, parent, "persistent")
  return zookeeper.create(parent .. "/node-", "ephemeral_sequential")
end

-- The name of our node once it is the first, nil if `patience` milliseconds are over.
function acquire(key, ttl, patience)
  local parent, deadline = "/" .. key, monotonic() + patience
  local path = enter(parent)
  local own = path:sub(#parent + 2)
  while true do
    zookeeper.forget()
    local before
    local queue = zookeeper.children(parent)
    table.sort(queue)
    if queue[1] == own then return own end
    for i, name in ipairs(queue) do
      if name == own then before = queue[i - 1] end
    end
    if not before then unknown("our node is gone") end
    if monotonic() >= deadline then
      zookeeper.delete(path)
      return nil
    end
    if zookeeper.exists(parent .. "/" .. before, true) then
      zookeeper.wait(math.max(deadline - monotonic(), 0))
    end
  end
end

-- true if our node was there.
function release(key, owner)
  local deleted, failure = pcall(zookeeper.delete, "/" .. key .. "/" .. owner)
  if deleted then return true end
  if failure.code == "NoNode" then return false end
  error(failure)
end
