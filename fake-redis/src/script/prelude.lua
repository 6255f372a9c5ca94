-- The world in which scripts run: what they see, and that they cannot change it.
--
-- Runs once in every Lua state, in its globals, which become those of scripts. Takes a table of
-- functions of the host, and returns the function that handles the problems of scripts and the
-- redis library. What can be reached from the globals when it ends is read-only: Lua itself refuses
-- to write there (see ../../lua/README.md).

local native = ...

local error, type, tostring, rawget, select = error, type, tostring, rawget, select
local raw_next, raw_pcall, raw_xpcall, raw_load = next, pcall, xpcall, load
local raw_getmetatable = getmetatable
local byte, find = string.byte, string.find

-- Errors ------------------------------------------------------------------------------------------

-- An error of the host is to scripts a table with its text. That the script has to end is not for
-- it to catch.
local function opened(problem)
  if type(problem) ~= "userdata" then return problem, false end
  return native.open_problem(problem)
end

-- As in Redis, an error of the redis library is to pcall the text of it.
local function caught(...)
  local ok, raised = ...
  if ok then return ... end
  local problem, has_to_end = opened(raised)
  if has_to_end then error(raised, 0) end
  local text = type(problem) == "table" and rawget(problem, "err")
  if type(text) == "string" then problem = text end
  return false, problem
end

local function safe_pcall(...)
  return caught(raw_pcall(...))
end

local function safe_xpcall(body, handler)
  local last
  local function finish(...)
    if last then error(last, 0) end
    return ...
  end
  return finish(raw_xpcall(body, function(raised)
    local problem, has_to_end = opened(raised)
    if has_to_end then last = raised return end
    return handler(problem)
  end))
end

local function resumed(...)
  local ok, raised = ...
  if ok then return ... end
  local problem, has_to_end = opened(raised)
  if has_to_end then error(raised, 0) end
  return false, problem
end

local raw_resume = coroutine.resume

local function safe_resume(...)
  return resumed(raw_resume(...))
end

local function loaded(chunk, problem)
  if chunk then return chunk end
  local text, has_to_end = opened(problem)
  if has_to_end then error(problem, 0) end
  return nil, text
end

-- What the reader raises is what `load` returns.
local function safe_load(...)
  return loaded(raw_load(...))
end

-- The redis library -------------------------------------------------------------------------------

-- Its functions are the host's where they can fail: such an error names the line that called them,
-- which a function of Lua that is called in a tail position would hide.

local function problem_of(text)
  return { err = text }
end

redis = {
  LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
  REPL_NONE = 0, REPL_AOF = 1, REPL_SLAVE = 2, REPL_REPLICA = 2, REPL_ALL = 3,
  call = native.call,
  pcall = native.pcall,
  sha1hex = native.sha1hex,
  log = native.log,
  setresp = native.setresp,
  set_repl = native.set_repl,
  acl_check_cmd = native.acl_check_cmd,
}

function redis.error_reply(...)
  local text = ...
  if select("#", ...) ~= 1 or type(text) ~= "string" then
    return problem_of("ERR wrong number or type of arguments")
  end
  if byte(text, 1) == 45 then text = text:sub(2) end
  -- The first word is the code, if there is more than one.
  if not find(text, " ", 1, true) then text = "ERR " .. text end
  return problem_of(text)
end

function redis.status_reply(...)
  local text = ...
  if select("#", ...) ~= 1 or type(text) ~= "string" then
    return problem_of("ERR wrong number or type of arguments")
  end
  return { ok = text }
end

function redis.replicate_commands()
  return true
end

function redis.breakpoint()
  return false
end

function redis.debug() end

-- The globals of scripts --------------------------------------------------------------------------

coroutine.resume = safe_resume
math.random, math.randomseed = native.random, native.randomseed
pcall, xpcall, load = safe_pcall, safe_xpcall, safe_load
getfenv, setfenv = nil, nil
for _, name in ipairs({ "bit", "cjson", "cmsgpack", "struct" }) do
  _G[name] = {}
  native.fill(name, _G[name])
end

-- Every problem becomes a table that says where in the script it arose.
local frozen = {}
function __redis__err__handler(problem)
  problem = opened(problem)
  if type(problem) ~= "table" then
    local text = tostring(problem)
    problem = { err = "ERR " .. text, said = text }
  end
  local source, line = native.place()
  if source and not frozen[problem] then
    problem.source, problem.line = source, line
  end
  return problem
end

setmetatable(_G, {
  __index = function(_, name)
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
})

-- Everything that can be reached ------------------------------------------------------------------

local function freeze(value)
  if type(value) ~= "table" or frozen[value] then return end
  frozen[value] = true
  native.freeze(value)
  for key, content in raw_next, value do
    freeze(key)
    freeze(content)
  end
  freeze(raw_getmetatable(value))
end

freeze(_G)
freeze(raw_getmetatable(""))

return __redis__err__handler, redis
