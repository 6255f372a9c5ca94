-- memcached: `add` takes the lock, `delete` releases it. This lock reproduces two mistakes: it does
-- not compare the owner in `delete`, and its lease may end almost a second early.
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
