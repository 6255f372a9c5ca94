-- NAME: a queue of ephemeral sequential nodes in ZooKeeper. Try it:
--
--   fencepost --lock NAME.lua --seed 2 --fault pause
--   fencepost sweep --lock NAME.lua --seeds 0..200 --fault pause,partition,restart
--
-- docs/lock-in-lua.md has every function that a script can use.

-- acquire waits by itself: the host calls it once.
lock = { deployment = "zookeeper", waits = true, fair = true }

-- Repeats an operation after a lost connection, until the deadline.
local function persist(deadline, operation, ...)
  while true do
    local answer = table.pack(pcall(operation, ...))
    if answer[1] then return table.unpack(answer, 2, answer.n) end
    if answer[2].code ~= "ConnectionLoss" or monotonic() >= deadline then error(answer[2]) end
    sleep(math.max(retry_delay(), 1))
  end
end

-- Returns the names of all nodes, sorted by the number that the server appended.
local function queue_of(parent)
  local queue = zookeeper.children(parent)
  table.sort(queue, function(a, b) return a:sub(-10) < b:sub(-10) end)
  return queue
end

local function is_own(name, prefix) return name:sub(1, #prefix) == prefix end

-- Creates our node. Does nothing if an earlier call created it and only the reply was lost. Each
-- attempt has its own prefix.
local function enter(parent, prefix)
  local exists, queue = pcall(queue_of, parent)
  if not exists then
    if queue.code ~= "NoNode" then error(queue) end
    pcall(zookeeper.create, parent, "persistent")
    queue = {}
  end
  for _, name in ipairs(queue) do
    if is_own(name, prefix) then return end
  end
  zookeeper.create(parent .. "/" .. prefix, "ephemeral_sequential")
end

-- Deletes all nodes of this attempt.
local function leave(parent, prefix)
  for _, name in ipairs(queue_of(parent)) do
    if is_own(name, prefix) then
      local deleted, failure = pcall(zookeeper.delete, parent .. "/" .. name)
      if not deleted and failure.code ~= "NoNode" then error(failure) end
    end
  end
end

-- Deletes the nodes of this attempt in the background, until a server confirms it or the session
-- ends.
local function leave_later(parent, prefix)
  spawn(function()
    repeat
      sleep(math.max(retry_delay(), 1))
      local left, failure = pcall(leave, parent, prefix)
    until left or failure.code ~= "ConnectionLoss"
  end)
end

-- Returns the name of our node when it is first in the queue, or nil after the deadline.
local function wait_for_turn(parent, prefix, deadline)
  persist(deadline, enter, parent, prefix)
  while true do
    zookeeper.forget()
    local own, before
    for _, name in ipairs(persist(deadline, queue_of, parent)) do
      if is_own(name, prefix) then own = name break end
      before = name
    end
    if not own then unknown("our node is gone") end
    if not before then return own end
    if monotonic() >= deadline then return nil end
    if persist(deadline, zookeeper.exists, parent .. "/" .. before, true) then
      zookeeper.wait(math.max(deadline - monotonic(), 0))
    end
  end
end

function acquire(key, ttl, patience)
  local parent, prefix = "/" .. key, random_hex(8) .. "-"
  local answered, own = pcall(wait_for_turn, parent, prefix, monotonic() + patience)
  if answered and own then return own end
  local left, failure = pcall(leave, parent, prefix)
  if not left then leave_later(parent, prefix) end
  if not answered then error(own) end
  if not left then error(failure) end
end

-- true if our node was there.
function release(key, owner)
  local parent = "/" .. key
  local deleted, failure = pcall(zookeeper.delete, parent .. "/" .. owner)
  if deleted then return true end
  if failure.code == "NoNode" then return false end
  leave_later(parent, owner:sub(1, -11))
  error(failure)
end
