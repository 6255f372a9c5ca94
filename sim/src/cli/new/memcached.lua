-- NAME: a lock on memcached. Try it:
--
--   fencepost --lock NAME.lua --seed 2 --fault pause
--   fencepost sweep --lock NAME.lua --seeds 0..200 --fault pause,restart,eviction
--
-- docs/lock-in-lua.md has every function that a script can use.

lock = { deployment = "memcached" }

-- One attempt: the owner if the lock is ours now. The server counts a lease in whole seconds.
function acquire(key, ttl)
  local owner = random_hex(20)
  if memcached.add(key, owner, (ttl + 999) // 1000) then return owner end
end

-- true if the lock was ours and is free now: cas stores only what has not changed since it was read.
function release(key, owner)
  local value, id = memcached.gets(key)
  return value == owner and memcached.cas(key, "", -1, id)
end
