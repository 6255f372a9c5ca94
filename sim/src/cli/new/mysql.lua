-- NAME: a user lock of MySQL or MariaDB, which goes with the connection. Try it:
--
--   fencepost --lock NAME.lua --seed 0 --fault restart
--   fencepost sweep --lock NAME.lua --seeds 0..200 --fault pause,partition,restart
--
-- docs/lock-in-lua.md has every function that a script can use.

lock = { deployment = "mysql" }

-- One attempt, which waits in the server for a second: the session that has the lock, or nil.
function acquire(key)
  local rows = sql.within(1000, "SELECT GET_LOCK(?, 1)", key)
  if rows[1][1] == "1" then return tostring(sql.session()) end
end

-- Another session cannot give the lock back.
function release(key, owner)
  if tostring(sql.session()) ~= owner then return false end
  return sql.bound("SELECT RELEASE_LOCK(?)", key)[1][1] == "1"
end
