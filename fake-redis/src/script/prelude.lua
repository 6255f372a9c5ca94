-- The world in which scripts run: what they may see, and that they cannot change it.
--
-- Runs once in every Lua state. Takes a table of functions of the host and returns the globals of scripts, the function that handles their
-- problems, the redis library, and the two tables in which the host puts KEYS and ARGV for every run: the one behind the globals, and globals
-- without proxies, for scripts that are known to change nothing. Redis patches Lua so that tables can be made read-only; plain Lua 5.1 cannot do that, so what scripts see of a shared table is
-- an empty proxy that shows it. The few library functions that would look at or write to the proxy itself know of proxies.

local native = ...

local error, type, tostring, rawget, rawset, select = error, type, tostring, rawget, rawset, select
local raw_next, raw_pairs, raw_pcall, raw_xpcall = next, pairs, pcall, xpcall
local raw_getmetatable, raw_setmetatable, raw_setfenv = getmetatable, setmetatable, setfenv
local raw_load, raw_loadstring = load, loadstring
local byte, find = string.byte, string.find

local READ_ONLY = "Attempt to modify a readonly table"

-- For each proxy the table that it shows.
local shown_by = {}

local function refuse_write()
  error(READ_ONLY, 2)
end

local function freeze(shown)
  local proxy = {}
  shown_by[proxy] = shown
  local metatable = { __index = shown, __newindex = refuse_write, __metatable = shown_by.no_metatable }
  return raw_setmetatable(proxy, metatable), metatable
end

shown_by.no_metatable = freeze({})

-- For each proxy whose table is still empty the function that fills it.
local filled_by = {}

-- A library of the host, which is made when it is first looked at.
local function freeze_later(name)
  local shown = {}
  local proxy, metatable = freeze(shown)
  local function fill()
    filled_by[proxy] = nil
    native.fill(name, shown)
    metatable.__index = shown
  end
  filled_by[proxy] = fill
  metatable.__index = function(_, key)
    fill()
    return shown[key]
  end
  return proxy
end

-- What a proxy shows, or the table itself.
local function shown_of(target)
  if filled_by[target] then filled_by[target]() end
  return shown_by[target] or target
end

-- Library functions -----------------------------------------------------------------------------------------------------------------

local function given_type(...)
  if select("#", ...) == 0 then return "no value" end
  return type((...))
end

local function complain(name, ...)
  error("bad argument #1 to '" .. name .. "' (table expected, got " .. given_type(...) .. ")", 3)
end

-- A library function for tables that refuses proxies. What it complains of itself is said of the place from which it was called.
local function refusing_proxies(name, original)
  local function finish(ok, ...)
    if ok then return ... end
    local message = ...
    if type(message) == "string" and (find(message, "bad argument", 1, true) == 1 or find(message, "invalid order", 1, true) == 1
      or find(message, "cannot change", 1, true) == 1 or find(message, "wrong number", 1, true) == 1) then
      error((message:gsub("'%?'", "'" .. name .. "'", 1)), 3)
    end
    error(message, 0)
  end
  return function(...)
    local target = ...
    if target ~= nil and shown_by[target] then error(READ_ONLY, 0) end
    return finish(raw_pcall(original, ...))
  end
end

local function safe_next(...)
  local target, key = ...
  if type(target) ~= "table" then complain("next", ...) end
  return raw_next(shown_of(target), key)
end

local function safe_pairs(...)
  local target = ...
  if type(target) ~= "table" then complain("pairs", ...) end
  return raw_next, shown_of(target), nil
end

-- Plain Lua 5.1 overflows on a range as wide as its integers and ends the process; Redis patches `luaB_unpack` of its copy for that. No range that
-- a stack can hold is that wide.
local unpack, tonumber = unpack, tonumber
local function safe_unpack(...)
  local list, first, last = ...
  if type(list) == "table" then
    local from, to = tonumber(first) or 1, tonumber(last) or #list
    if to - from >= 8000 then error("too many results to unpack", 2) end
  end
  return unpack(...)
end

local function safe_rawget(...)
  local target, key = ...
  if type(target) ~= "table" then complain("rawget", ...) end
  return rawget(shown_of(target), key)
end

-- Addresses differ from run to run, so that all are shown alike.
local function safe_tostring(...)
  local value = ...
  if value == native.null then return "userdata: (nil)" end
  local kind = type(value)
  if kind == "table" or kind == "function" or kind == "thread" or kind == "userdata" then
    local metatable = raw_getmetatable(value)
    if type(metatable) ~= "table" or metatable.__tostring == nil then return kind .. ": 0x000000000000" end
  end
  if select("#", ...) == 0 then error("bad argument #1 to 'tostring' (value expected)", 2) end
  return tostring(value)
end

-- The size of the heap depends on what ran before.
local function safe_collectgarbage(option)
  if option == "count" then return 64 end
  return 0
end

-- An error of the host is to scripts a table with its text. That the script has to end is not for it to catch.
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
  if type(problem) == "table" and type(rawget(problem, "err")) == "string" then problem = rawget(problem, "err") end
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

local BINARY = 27

local function safe_loadstring(text, name)
  if type(text) == "string" and byte(text, 1) == BINARY then return nil, "binary chunks are not supported" end
  local chunk, problem = raw_loadstring(text, name)
  if chunk then raw_setfenv(chunk, native.globals) end
  return chunk, problem
end

local function safe_load(reader, name)
  local pieces = {}
  local piece = reader()
  while piece and piece ~= "" do
    pieces[#pieces + 1] = piece
    piece = reader()
  end
  return safe_loadstring(table.concat(pieces), name or "=(load)")
end

-- The redis library -----------------------------------------------------------------------------------------------------------------

-- Its functions are the host's where they can fail: such an error names the line that called them, which a function of Lua that is
-- called in a tail position would hide.

local function problem_of(text)
  return { err = text }
end

local redis = {
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
  if select("#", ...) ~= 1 or type(text) ~= "string" then return problem_of("ERR wrong number or type of arguments") end
  if byte(text, 1) == 45 then text = text:sub(2) end
  -- The first word is the code, if there is more than one.
  if not find(text, " ", 1, true) then text = "ERR " .. text end
  return problem_of(text)
end

function redis.status_reply(...)
  local text = ...
  if select("#", ...) ~= 1 or type(text) ~= "string" then return problem_of("ERR wrong number or type of arguments") end
  return { ok = text }
end

function redis.replicate_commands()
  return true
end

function redis.breakpoint()
  return false
end

function redis.debug() end

-- The globals of scripts ------------------------------------------------------------------------------------------------------------

local function copy(library)
  local result = {}
  for name, value in raw_pairs(library) do result[name] = value end
  return result
end

local table_library, math_library, coroutine_library = copy(table), copy(math), copy(coroutine)
coroutine_library.resume = safe_resume
for _, name in ipairs({ "insert", "remove", "sort", "setn" }) do
  if table_library[name] then table_library[name] = refusing_proxies(name, table_library[name]) end
end
math_library.random, math_library.randomseed = native.random, native.randomseed

-- Strings find their methods here; scripts are shown a proxy in its place.
local string_metatable = raw_getmetatable("")
string_metatable.__metatable = freeze({ __index = freeze(string) })

local real = {
  _VERSION = _VERSION,
  assert = assert,
  bit = freeze_later("bit"),
  cjson = freeze_later("cjson"),
  cmsgpack = freeze_later("cmsgpack"),
  collectgarbage = safe_collectgarbage,
  coroutine = freeze(coroutine_library),
  error = error,
  gcinfo = function() return 64 end,
  getmetatable = raw_getmetatable,
  ipairs = ipairs,
  load = safe_load,
  loadstring = safe_loadstring,
  math = freeze(math_library),
  next = safe_next,
  pairs = safe_pairs,
  pcall = safe_pcall,
  rawequal = rawequal,
  rawget = safe_rawget,
  rawset = refusing_proxies("rawset", rawset),
  redis = freeze(redis),
  select = select,
  setmetatable = refusing_proxies("setmetatable", raw_setmetatable),
  string = freeze(string),
  struct = freeze_later("struct"),
  table = freeze(table_library),
  tonumber = tonumber,
  tostring = safe_tostring,
  type = type,
  unpack = safe_unpack,
  xpcall = safe_xpcall,
}

local function refuse_unknown(_, name)
  error("Script attempted to access nonexistent global variable '" .. safe_tostring(name) .. "'", 2)
end

local globals = freeze(real)
real._G = globals
raw_setmetatable(real, { __index = refuse_unknown })
native.globals = globals

-- The same for scripts of which it is known that they change neither globals nor the redis library: each proxy less is found sooner.
local open = copy(real)
open.redis = redis
raw_setmetatable(open, { __index = refuse_unknown })

-- Problems --------------------------------------------------------------------------------------------------------------------------

-- Every problem becomes a table that says where in the script it arose.
local function handle_problem(problem)
  problem = opened(problem)
  if type(problem) ~= "table" then
    local text = safe_tostring(problem)
    problem = { err = "ERR " .. text, said = text }
  end
  local source, line = native.place()
  if source and not shown_by[problem] then
    problem.source, problem.line = source, line
  end
  return problem
end

return globals, handle_problem, redis, real, open
