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

-- The library takes a serialization failure, a shutdown of the server, and a connection that broke in
-- the transaction for a statement that changed nothing.
local function is_ignored(failure)
  if failure.unknown then return true end
  return failure.code and (failure.code:sub(1, 2) == "40" or failure.code:sub(1, 3) == "57P")
end

-- Executes a transaction of one statement, and returns whether it changed a row, or nil and the failure
-- that the library ignores.
local function execute(text, ...)
  local begun, rows, count = pcall(sql.begin, text, ...)
  if not begun then
    if rows.code then sql.rollback() end
    if not is_ignored(rows) then error(rows) end
    return nil, rows
  end
  local committed, answer = pcall(sql.commit)
  if not committed then return nil, answer end
  return answer and count > 0
end

function acquire(key, ttl)
  me = me or random_hex(20)
  local span, is_new = ttl .. " milliseconds", not row_exists
  if is_new then
    local inserted = execute(INSERT, key, me, span)
    row_exists = true
    if inserted then return me end
  end
  local answered, updated = pcall(execute, UPDATE, key, me, span)
  if not answered then
    -- The row may not exist.
    row_exists = not is_new
    error(updated)
  end
  if updated then return me end
  return nil, "lock_until has not passed"
end

function release(key, owner)
  local may_have_released = false
  for attempt = 1, 10 do
    local unlocked, failure = execute(UNLOCK, key, owner, "0 milliseconds")
    if not failure then return unlocked or may_have_released end
    may_have_released = may_have_released or failure.unknown
  end
  return true
end
