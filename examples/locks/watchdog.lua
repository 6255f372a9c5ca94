-- The lock on one Redis, with a lease that is renewed until the release: the host calls `renew`
-- at intervals of a third of the ttl, over a separate connection.
--
--   fencepost --lock examples/locks/watchdog.lua --seed 7 --fault pause

local DELETE_IF_OWNED = [[
if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("del", KEYS[1])
else
  return 0
end]]

local EXTEND_IF_OWNED = [[
if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("pexpire", KEYS[1], ARGV[2])
else
  return 0
end]]

function acquire(key, ttl)
  local owner = random_hex(20)
  local sent, set = pcall(redis.call, "SET", key, owner, "NX", "PX", ttl)
  if sent then return set and owner end
  if not is_unknown(set) then error(set) end
  local answered, deleted = pcall(redis.script, DELETE_IF_OWNED, key, owner)
  if answered and deleted == 1 then return nil, tostring(set) end
  error(set)
end

function renew(key, owner, ttl)
  return redis.script(EXTEND_IF_OWNED, key, owner, ttl) == 1
end

function release(key, owner)
  local lost, last
  for attempt = 1, 3 do
    if attempt > 1 then sleep(retry_delay()) end
    local answered, deleted = pcall(redis.script, DELETE_IF_OWNED, key, owner)
    if answered then
      if deleted == 1 then return true end
      if lost then unknown("released or expired: " .. tostring(lost)) end
      return false
    end
    last = deleted
    if is_unknown(deleted) then lost = lost or deleted end
  end
  unknown(lost and tostring(lost) or "not released: " .. tostring(last))
end
