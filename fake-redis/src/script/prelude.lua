-- Builds the world in which scripts run. Runs once in every Lua state.
--
-- Takes a table of the host's functions. Returns a function that calls a script, one that sets the
-- server's version, and the globals. Scripts reach every shared table through a proxy: an empty
-- table that answers from the shared one and refuses writes.

local native = ...

local error, type, rawget, select, tostring = error, type, rawget, select, tostring
local pcall, xpcall, load, resume = pcall, xpcall, load, coroutine.resume
local raw_setmetatable, raw_getmetatable, setfenv = setmetatable, getmetatable, setfenv
local raw_next = next
local byte, find, sub = string.byte, string.find, string.sub
local has_to_end = native.has_to_end

-- Errors ------------------------------------------------------------------------------------------

-- As in Redis, pcall turns an error of the redis library into its text. An error that ends the
-- script is not for scripts to catch.
local function caught(...)
  local ok, raised = ...
  if ok then return ... end
  if has_to_end() then error(raised, 0) end
  local text = type(raised) == "table" and rawget(raised, "err")
  if type(text) == "string" then return false, text end
  return ...
end

local function safe_pcall(...)
  if select("#", ...) == 0 then return false end
  return caught(pcall(...))
end

local function resumed(...)
  local ok, raised = ...
  if not ok and has_to_end() then error(raised, 0) end
  return ...
end

local function safe_xpcall(...)
  local body, handler = ...
  if select("#", ...) < 2 then error("bad argument #2 to 'xpcall' (value expected)", 2) end
  return resumed(xpcall(body, function(raised)
    if has_to_end() then return raised end
    return handler(raised)
  end))
end

local function safe_resume(...)
  return resumed(resume(...))
end

local function safe_load(...)
  local chunk, problem = load(...)
  if chunk then return chunk end
  if has_to_end() then error(problem, 0) end
  return nil, problem
end

-- The redis library -------------------------------------------------------------------------------

-- Functions that can fail are the host's: their errors name the line that called them, which a
-- tail call of a Lua function would hide.

local redis = {
  LOG_DEBUG = 0, LOG_VERBOSE = 1, LOG_NOTICE = 2, LOG_WARNING = 3,
  REPL_NONE = 0, REPL_AOF = 1, REPL_SLAVE = 2, REPL_REPLICA = 2, REPL_ALL = 3,
  call = native.call,
  pcall = native.pcall,
  sha1hex = native.sha1hex,
  log = native.log,
  setresp = native.setresp,
  set_repl = native.set_repl,
}

local function wrong_arguments()
  return { err = "ERR wrong number or type of arguments" }
end

function redis.error_reply(...)
  local text = ...
  if select("#", ...) ~= 1 or type(text) ~= "string" then return wrong_arguments() end
  if byte(text, 1) == 45 then text = sub(text, 2) end
  -- The first word is the code if there is more than one word.
  if not find(text, " ", 1, true) then text = "ERR " .. text end
  return { err = text }
end

function redis.status_reply(...)
  local text = ...
  if select("#", ...) ~= 1 or type(text) ~= "string" then return wrong_arguments() end
  return { ok = text }
end

function redis.replicate_commands()
  return true
end

function redis.breakpoint()
  return false
end

function redis.debug() end

-- The libraries of Lua ----------------------------------------------------------------------------

for name in raw_next, native.strings do string[name] = native.strings[name] end
for _, name in ipairs({ "byte", "char", "format", "lower", "reverse", "sub", "upper" }) do
  string[name] = native.metered(string[name])
end
string.rep = native.rep(string.rep)
for _, name in ipairs({ "getn", "maxn", "remove", "sort" }) do
  table[name] = native.metered(table[name])
end
table.concat, table.insert = native.concat(table.concat), native.insert(table.insert)
table.foreach = native.foreach(table.foreach)
for _, name in ipairs({ "atan2", "fmod", "ldexp", "mod", "pow" }) do
  math[name] = native.second_first(math[name])
end
math.random, math.randomseed = native.random, native.randomseed
coroutine.create, coroutine.wrap = native.thread(coroutine.create), native.thread(coroutine.wrap)
coroutine.resume = safe_resume

-- The globals of scripts --------------------------------------------------------------------------

local globals = {
  _VERSION = _VERSION,
  KEYS = {}, ARGV = {},
  assert = assert, error = error, ipairs = ipairs, rawequal = rawequal, select = select,
  type = type, collectgarbage = native.collectgarbage, gcinfo = native.gcinfo,
  pcall = safe_pcall, xpcall = safe_xpcall, load = safe_load,
  next = native.next(next),
  getmetatable = native.getmetatable(getmetatable),
  setmetatable = native.refusing(setmetatable),
  rawget = native.rawget(rawget),
  rawset = native.refusing(rawset),
  tostring = native.tostring(tostring),
  loadstring = native.metered(loadstring),
  tonumber = native.metered(tonumber),
  unpack = native.metered(unpack),
}
globals.pairs = native.pairs(pairs, globals.next)

-- Every problem becomes a table that says where in the script it arose.
local is_shared
local function handle_problem(problem)
  if has_to_end() then problem = has_to_end() end
  if type(problem) ~= "table" then
    local text = tostring(problem)
    problem = { err = "ERR " .. text, said = text }
  end
  local source, line = native.place()
  if source and not is_shared[problem] then
    rawset(problem, "source", source)
    rawset(problem, "line", line)
  end
  return problem
end
globals.__redis__err__handler = handle_problem

-- Shared tables -----------------------------------------------------------------------------------

is_shared = {}

local function refuse()
  error("Attempt to modify a readonly table", 2)
end

-- Scripts see `metatable` as that of the proxy.
local function protect(real, metatable)
  if native.are_writable then return real end
  local proxy = {}
  raw_setmetatable(proxy, { __index = real, __newindex = refuse })
  native.protect(proxy, real, metatable)
  is_shared[proxy] = true
  return proxy
end

globals.redis = protect(redis)
for name, library in raw_next, { string = string, table = table, math = math,
  coroutine = coroutine } do
  globals[name] = protect(library)
end
for _, name in ipairs({ "bit", "cjson", "cmsgpack" }) do
  globals[name] = protect(native.functions_of(name))
end

local strings = raw_getmetatable("")
strings.__index = globals.string
native.share_strings(protect(strings))

local missing = {
  __index = function(_, name)
    -- A global that is not there is asked for through the proxy.
    error("Script attempted to access nonexistent global variable '" .. tostring(name) .. "'", 2)
  end,
}
raw_setmetatable(globals, missing)
local world = protect(globals, protect(missing))
globals._G = world

local function run(script, keys, arguments)
  globals.KEYS, globals.ARGV = keys, arguments
  return xpcall(script, handle_problem)
end

-- Before 7.0, the redis library has no version and no acl_check_cmd.
local function set_version(text, number)
  redis.REDIS_VERSION, redis.REDIS_VERSION_NUM = text, number
  redis.acl_check_cmd = text and native.acl_check_cmd
end

-- From here on chunks are loaded into the world of scripts.
collectgarbage("stop")
setfenv(0, world)
return run, set_version, world
