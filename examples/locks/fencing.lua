-- The lock on one Redis with a fencing token, which the script that takes the lock increments
-- (Kleppmann 2016).
--
--   fencepost --lock examples/locks/fencing.lua --seed 7 --fault pause

lock = { tokens = true }

local ACQUIRE = [[
if redis.call("exists", KEYS[1]) == 1 then
  return false
end
local token = redis.call("incr", KEYS[2])
redis.call("set", KEYS[1], ARGV[1], "NX", "PX", ARGV[2])
return token]]

local DELETE_IF_OWNED = [[
if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("del", KEYS[1])
else
  return 0
end]]

function acquire(key, ttl)
  local owner = random_hex(20)
  local sent, token = pcall(redis.script, ACQUIRE, { key, key .. ":token" }, owner, ttl)
  if sent then return token and { owner = owner, token = token } end
  if not is_unknown(token) then error(token) end
  local answered, deleted = pcall(redis.script, DELETE_IF_OWNED, key, owner)
  if answered and deleted == 1 then return nil, tostring(token) end
  error(token)
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
