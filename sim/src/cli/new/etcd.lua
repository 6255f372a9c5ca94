-- NAME: a lock on etcd. Each attempt adds a key with its own lease below a prefix. Try it:
--
--   fencepost --lock NAME.lua --seed 0 --fault pause
--   fencepost sweep --lock NAME.lua --seeds 0..200 --fault pause,partition,restart
--
-- docs/lock-in-lua.md has every function that a script can use.

-- The lease is kept alive until it is closed, so a holder may stay longer than the ttl.
lock = { deployment = "etcd", renews = true }

local PATIENCE_MS = 2000

-- One attempt: the lease if its key is the oldest below the prefix, nil if another holds the lock.
function acquire(key, ttl)
  local lease = etcd.open(ttl, PATIENCE_MS)
  local prefix = key .. "/"
  local entered, is_oldest = pcall(etcd.enter, prefix, prefix .. lease, lease, PATIENCE_MS)
  if entered and is_oldest then return lease end
  -- The end of a lease removes its key.
  etcd.close(lease)
  return nil, not entered and is_oldest.message or "another holds the lock"
end

-- true if the key was there. The lease is closed even if the first call fails; otherwise it would
-- be kept alive, and the lock never free.
function release(key, lease)
  local deleted, outcome = pcall(etcd.delete, key .. "/" .. lease)
  local closed = pcall(etcd.close, lease)
  if deleted then return outcome end
  if closed then return true end
  error(outcome)
end
