-- NAME: an advisory lock of PostgreSQL, which goes with the connection. Try it:
--
--   fencepost --lock NAME.lua --seed 0 --fault restart
--   fencepost sweep --lock NAME.lua --seeds 0..200 --fault pause,partition,restart
--
-- docs/lock-in-lua.md has every function that a script can use.

lock = { deployment = "postgresql-session" }

-- One attempt: the session that has the lock, or nil. The host tries again.
function acquire(key)
  local rows = sql.query("SELECT pg_try_advisory_lock($1)", hash(key))
  if rows[1][1] == "t" then return tostring(sql.session()) end
end

-- Another session cannot give the lock back.
function release(key, owner)
  if tostring(sql.session()) ~= owner then return false end
  return sql.bound("SELECT pg_advisory_unlock($1)", hash(key))[1][1] == "t"
end
