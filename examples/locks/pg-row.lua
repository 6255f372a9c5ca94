-- PostgreSQL: a row that names the holder and the end of its lease, by the clock of the server
-- (ShedLock's JdbcTemplateLockProvider with usingDbTime).
--
--   fencepost --lock examples/locks/pg-row.lua --seed 7 --fault pause

lock = { deployment = "postgresql-row", models = "ShedLock, JdbcTemplateLockProvider with usingDbTime()" }

local NOW = "timezone('utc', CURRENT_TIMESTAMP)"
local TAKE = "SET lock_until = " .. NOW .. " + cast($3 as interval), locked_at = " .. NOW ..
  ", locked_by = $2 WHERE shedlock.name = $1 AND shedlock.lock_until <= " .. NOW
local INSERT = "INSERT INTO shedlock(name, lock_until, locked_at, locked_by) VALUES($1, " .. NOW ..
  " + cast($3 as interval), " .. NOW .. ", $2) ON CONFLICT (name) DO UPDATE " .. TAKE
local UPDATE = "UPDATE shedlock " .. TAKE
local UNLOCK = "UPDATE shedlock SET lock_until = CASE WHEN locked_at + cast($3 as interval) > " .. NOW ..
  " THEN locked_at + cast($3 as interval) ELSE " .. NOW .. " END WHERE name = $1 AND locked_by = $2"

local me, row_exists

-- Executes a transaction of one statement, and returns whether it changed a row.
local function execute(text, ...)
  local changed, rows, count = pcall(sql.begin, text, ...)
  if changed then return sql.commit() and count > 0 end
  if rows.code then sql.rollback() end
  error(rows)
end

-- The library takes a serialization failure, a shutdown of the server, and a connection that broke in
-- the transaction for a statement that changed nothing.
local function is_ignored(failure)
  if failure.unknown then return true end
  return failure.code and (failure.code:sub(1, 2) == "40" or failure.code:sub(1, 3) == "57P")
end

local function try(...)
  local answered, changed = pcall(execute, ...)
  if answered then return changed end
  if is_ignored(changed) then return false end
  error(changed)
end

function acquire(key, ttl)
  me = me or random_hex(20)
  local span = ttl .. " milliseconds"
  if not row_exists then
    local inserted = try(INSERT, key, me, span)
    row_exists = true
    if inserted then return me end
  end
  if try(UPDATE, key, me, span) then return me end
  return nil, "lock_until has not passed"
end

function release(key, owner)
  local may_have_released = false
  for attempt = 1, 10 do
    local answered, unlocked = pcall(execute, UNLOCK, key, owner, "0 milliseconds")
    if answered then return unlocked or may_have_released end
    if not is_ignored(unlocked) then error(unlocked) end
    may_have_released = may_have_released or unlocked.unknown
  end
  return true
end
