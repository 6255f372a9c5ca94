-- ZooKeeper: a queue of ephemeral sequential nodes, in which each process waits for the node before
-- its own (the documentation's recipe). This lock reproduces the recipe's mistakes: after a lost
-- reply, it creates a second node, and a release whose reply is lost leaves the node.
--
--   fencepost --lock examples/locks/zookeeper-queue.lua --seed 7 --fault pause

lock = { deployment = "zookeeper", waits = true, fair = true }

-- Repeats the operation after a lost connection, or in a new session, until the deadline.
local function until_answered(deadline, operation, ...)
  while true do
    local result = table.pack(pcall(operation, ...))
    local failure = result[2]
    if result[1] then return table.unpack(result, 2, result.n) end
    local again = failure.code == "ConnectionLoss" or failure.code == "SessionExpired"
    if not again or monotonic() >= deadline then error(failure) end
    sleep(math.max(retry_delay(), 1))
  end
end

local function enter(parent)
  local node = parent .. "/node-"
  local created, path = pcall(zookeeper.create, node, "ephemeral_sequential")
  if created then return path end
  if path.code ~= "NoNode" then error(path) end
  local made, failure = pcall(zookeeper.create, parent, "persistent")
  if not made and failure.code ~= "NodeExists" then error(failure) end
  return zookeeper.create(node, "ephemeral_sequential")
end

-- Returns "first", "late" (after the deadline), or "gone" if its own node has left the queue.
local function wait_for_turn(parent, path, deadline)
  local own = path:sub(#parent + 2)
  while true do
    zookeeper.forget()
    local queue = until_answered(deadline, zookeeper.children, parent)
    table.sort(queue)
    local place
    for i, name in ipairs(queue) do
      if name == own then place = i end
    end
    if not place then return "gone" end
    if place == 1 then return "first" end
    if monotonic() >= deadline then return "late" end
    local before = parent .. "/" .. queue[place - 1]
    if until_answered(deadline, zookeeper.exists, before, true) then
      zookeeper.wait(math.max(deadline - monotonic(), 0))
    end
  end
end

function acquire(key, ttl, patience)
  local parent, deadline = "/" .. key, monotonic() + patience
  while true do
    local path = until_answered(deadline, enter, parent)
    local answered, turn = pcall(wait_for_turn, parent, path, deadline)
    if not answered then
      pcall(zookeeper.delete, path)
      error(turn)
    end
    if turn == "first" then return path:sub(#parent + 2) end
    if turn == "late" then
      local deleted, failure = pcall(zookeeper.delete, path)
      if deleted or failure.code == "NoNode" then return nil, "held by another" end
      unknown(tostring(failure))
    end
  end
end

function release(key, owner)
  local deleted, failure = pcall(zookeeper.delete, "/" .. key .. "/" .. owner)
  if deleted then return true end
  if failure.code == "NoNode" then return false end
  error(failure)
end
