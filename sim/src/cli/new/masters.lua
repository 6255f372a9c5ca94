-- NAME: a lock on a majority of independent Redis masters. Try it:
--
--   fencepost --lock NAME.lua --seed 2 --fault pause
--   fencepost sweep --lock NAME.lua --seeds 0..200 --fault pause,restart,clock-jump
--
-- docs/lock-in-lua.md has every function that a script can use.

lock = { deployment = "independent" }

local QUORUM = #masters // 2 + 1
local DELETE_IF_OWNED = [[
if redis.call("get", KEYS[1]) == ARGV[1] then
  return redis.call("del", KEYS[1])
else
  return 0
end]]

-- Deletes our value at all masters. Returns how many masters had it, and a failure if there was one.
local function delete_all(key, owner)
  local results, failures = all(masters, function(master)
    return master.script(DELETE_IF_OWNED, key, owner)
  end)
  local deleted, failure = 0, nil
  for _, result in pairs(results) do deleted = deleted + result end
  for _, one in pairs(failures) do failure = one end
  return deleted, failure
end

-- One attempt: the owner and how long it is valid, or nil. The host tries again.
function acquire(key, ttl)
  local owner, valid_until, locked = random_hex(20), monotonic() + ttl * 0.99 - 2, 0
  local set, failed = all(masters, function(master)
    return master.call("SET", key, owner, "NX", "PX", ttl)
  end)
  for _ in pairs(set) do locked = locked + 1 end
  if locked >= QUORUM and monotonic() < valid_until then
    return { owner = owner, valid_until = valid_until }
  end
  delete_all(key, owner)
  -- A master whose reply is lost may hold the key until it expires.
  for _, failure in pairs(failed) do
    if is_unknown(failure) then error(failure) end
  end
end

-- true if a majority had the lock.
function release(key, owner)
  local deleted, failure = delete_all(key, owner)
  if deleted >= QUORUM then return true end
  -- A master that did not answer may have deleted the lock, too.
  if failure then error(failure) end
  return false
end
