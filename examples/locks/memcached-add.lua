-- memcached: `add` takes the lock, `delete` gives it back. Two mistakes are kept: `delete` looks at
-- no owner, and the server may end a lease almost a second early.
--
--   fencepost --lock examples/locks/memcached-add.lua --seed 7 --fault pause

lock = { deployment = "memcached" }

function acquire(key, ttl)
  local owner = random_hex(20)
  return memcached.add(key, owner, (ttl + 999) // 1000) and owner
end

function release(key)
  return memcached.delete(key)
end
