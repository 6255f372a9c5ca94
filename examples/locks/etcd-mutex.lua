-- etcd: the mutex of its Go client. Each process creates a key with a lease that the client keeps
-- alive. The process with the oldest key holds the lock; each other process waits for the key before
-- its own.
--
--   fencepost --lock examples/locks/etcd-mutex.lua --seed 7 --fault pause

lock = { deployment = "etcd", waits = true, renews = true }

local function wait_for_turn(prefix, own, revision, deadline)
  while true do
    local before, seen = etcd.last_before(prefix, revision, math.max(deadline - monotonic(), 0))
    if not before then break end
    etcd.wait_for_deletion(before, seen)
  end
  -- The lease may have ended during the wait, and the key with it.
  if not etcd.exists(own, math.max(deadline - monotonic(), 0)) then
    error("mutex: session is expired")
  end
end

-- Leaves the queue. If etcd answers one of the two requests, the key is certainly gone.
local function give_up(own, lease, why)
  local is_out = pcall(etcd.delete, own)
  local is_closed = pcall(etcd.close, lease)
  if is_out or is_closed then return nil, why end
  unknown(why)
end

local function reason(failure)
  if type(failure) == "table" then return failure.message end
  return "mutex: session is expired"
end

function acquire(key, ttl, patience)
  local deadline, prefix = monotonic() + patience, key .. "/"
  local opened, lease = pcall(etcd.open, ttl, patience)
  if not opened then return nil, reason(lease) end
  local own = prefix .. lease
  local entered, is_first, revision =
    pcall(etcd.enter, prefix, own, lease, math.max(deadline - monotonic(), 0))
  if not entered then return give_up(own, lease, reason(is_first)) end
  if is_first then return lease end
  local outcome = "held by another"
  pcall(timeout, math.max(deadline - monotonic(), 0), function()
    local held, failure = pcall(wait_for_turn, prefix, own, revision, deadline)
    outcome = not held and reason(failure) or nil
  end)
  if not outcome then return lease end
  return give_up(own, lease, outcome)
end

function release(key, lease)
  local deleted, outcome = pcall(etcd.delete, key .. "/" .. lease)
  local closed = pcall(etcd.close, lease)
  if deleted then return outcome end
  if closed then return true end
  error(outcome)
end
