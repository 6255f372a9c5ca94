-- PostgreSQL: an advisory lock of the session. The lock ends with the connection, and the server
-- does not notify the holder.
--
--   fencepost --lock examples/locks/pg-advisory.lua --seed 7 --fault partition

lock = { deployment = "postgresql-session" }

function acquire(key)
  local rows = sql.query("SELECT pg_try_advisory_lock($1)", hash(key))
  if rows[1][1] == "t" then return tostring(sql.session()) end
  return nil, "held by another session"
end

-- Only the connection that has the lock can release it.
function release(key, owner)
  if tostring(sql.session()) ~= owner then return false end
  local answered, rows = pcall(sql.bound, "SELECT pg_advisory_unlock($1)", hash(key))
  if answered then return rows[1][1] == "t" end
  if rows.code or not rows.unknown then return false end
  error(rows)
end
