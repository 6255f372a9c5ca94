-- NAME: a lock on one Redis. Try it:
--
--   fencepost --lock NAME.lua --seed 15 --fault pause
--   fencepost sweep --lock NAME.lua --seeds 0..200 --fault pause,failover,restart
--
-- docs/lock-in-lua.md has every function that a script can use.

local DELETE_IF_OWNED = [[
if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("del", KEYS[1])
else
  return 0
end]]

-- One attempt: the owner if the lock is ours now, nil if another holds it. The host tries again.
function acquire(key, ttl)
  local owner = random_hex(20)
  if redis.call("SET", key, owner, "NX", "PX", ttl) then return owner end
end

-- true if the lock was ours and is free now.
function release(key, owner)
  return redis.script(DELETE_IF_OWNED, key, owner) == 1
end
