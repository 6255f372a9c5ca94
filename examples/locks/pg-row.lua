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

function acquire(key, ttl)
  me = me or random_hex(20)
  local span = ttl .. " milliseconds"
  if not row_exists then
    local inserted = execute(INSERT, key, me, span)
    row_exists = true
    if inserted then return me end
  end
  if execute(UPDATE, key, me, span) then return me end
  return nil, "lock_until has not passed"
end

function release(key, owner)
  local last
  for attempt = 1, 10 do
    local answered, unlocked = pcall(execute, UNLOCK, key, owner, "0 milliseconds")
    if answered then return unlocked end
    last = unlocked
    if not last.code then error(last) end
  end
  error(last)
end
