-- What a script sees: Lua's own functions without those whose results differ from run to run, and
-- the functions of the host, which hand over to it by a yield.
local order, charge_search, is_over, charge_elements, charge_bytes, charge_strings,
  charge_plain_search, charge_list, now, monotonic, random_hex, retry_delay, random = ...
local real_pcall, real_xpcall, real_tostring, error = pcall, xpcall, tostring, error
local type, select, rawget, rawset, getmetatable, setmetatable =
  type, select, rawget, rawset, getmetatable, setmetatable
local yield, unpack, floor = coroutine.yield, table.unpack, math.floor
local find, real_format = string.find, string.format

-- Failures of calls. A script may catch them: `message`, `unknown`, `code`.
local Failure = { __metatable = "failure" }
Failure.__index = Failure
function Failure.__tostring(failure) return failure.message end

local function fail(message, is_unknown, code)
  error(setmetatable({ message = message, unknown = is_unknown, code = code }, Failure), 0)
end

local function answer(outcome, ...)
  if outcome == true then return ... end
  if outcome == false then return fail(...) end
  if outcome == "again" then error((...), 0) end
  error((...), 2)
end

local is_yieldable = coroutine.isyieldable

local function ask(...)
  if not is_yieldable() then
    error("a function of the host is called where it cannot wait: expected the call inside "
      .. "acquire, release or another function of the lock, and not in a function that string.gsub "
      .. "calls", 2)
  end
  return answer(yield(...))
end

-- A script that has used up what it may use ends, whatever it catches.
local function caught(ok, ...)
  if not ok and is_over() then error((...), 0) end
  return ok, ...
end

local function text(value)
  local told, kind = real_tostring(value), type(value)
  if (kind == "table" or kind == "function" or kind == "thread") and find(told, "0x%x+") then
    return kind
  end
  return told
end

local function format(pattern, ...)
  if type(pattern) == "string" and string.find(pattern, "%%[-+ #0]*%d*%.?%d*p") then
    error("string.format: %p would differ from run to run", 2)
  end
  local values, count = { ... }, select("#", ...)
  for place = 1, count do
    if type(values[place]) == "table" or type(values[place]) == "function" then
      values[place] = text(values[place])
    end
  end
  charge_strings(pattern, unpack(values, 1, count))
  return real_format(pattern, unpack(values, 1, count))
end

-- Tables are gone through in the order of their keys.
local function every(t)
  local keys, place = order(t), 0
  if keys == nil then
    error("pairs: a table with tables or functions as keys has no order that a replay could repeat: "
      .. "expected keys that are strings, numbers or booleans", 2)
  elseif not keys then
    error("pairs: expected a table, got a " .. type(t), 2)
  end
  return function()
    while true do
      place = place + 1
      local key = keys[place]
      if key == nil then return nil end
      local value = rawget(t, key)
      if value ~= nil then return key, value end
    end
  end
end

local function next_in(t, last)
  local is_behind = last == nil
  for key, value in every(t) do
    if is_behind then return key, value end
    is_behind = key == last
  end
end

-- Lua's own sort draws its pivots. This one merges, so that equal elements stay in order.
local function sort(list, is_before)
  is_before = is_before or function(a, b) return a < b end
  local from, to, count, width = list, {}, #list, 1
  while width < count do
    for start = 1, count, 2 * width do
      local left, right = start, start + width
      local left_end, right_end = math.min(right, count + 1), math.min(right + width, count + 1)
      for place = start, right_end - 1 do
        if left < left_end and (right >= right_end or not is_before(from[right], from[left])) then
          to[place], left = from[left], left + 1
        else
          to[place], right = from[right], right + 1
        end
      end
    end
    from, to, width = to, from, 2 * width
  end
  if from ~= list then
    for place = 1, count do list[place] = from[place] end
  end
end

local function set_metatable(t, metatable)
  if type(metatable) == "table" and (rawget(metatable, "__gc") ~= nil or rawget(metatable, "__mode") ~= nil) then
    error("setmetatable: __gc and __mode depend on when memory is collected: expected neither", 2)
  end
  return setmetatable(t, metatable)
end

-- Shared by all processes, so none may change them.
local frozen = {}
local function freeze(real, name)
  local proxy = setmetatable({}, {
    __index = real,
    __newindex = function(_, key)
      error("'" .. name .. "." .. text(key) .. "' cannot be set: expected a variable of your own", 2)
    end,
    __metatable = false,
  })
  frozen[proxy] = name
  return proxy
end

local function raw_set(t, key, value)
  if frozen[t] then error("'" .. frozen[t] .. "' cannot be changed", 2) end
  return rawset(t, key, value)
end

-- Lua's own functions, whose work on long strings and lists counts as instructions.
local function metered(real)
  return function(...)
    charge_strings(...)
    return real(...)
  end
end

local real_rep = string.rep
local function rep(s, count, separator)
  local size = #real_tostring(s) + (separator and #real_tostring(separator) or 0)
  charge_bytes(size * 1.0 * (tonumber(count) or 0))
  return real_rep(s, count, separator)
end

-- Lua's own searches. Their steps count as instructions before they run.
local function searched(s, pattern, first, kind)
  if type(s) == "number" then s = real_tostring(s) end
  if type(pattern) == "number" then pattern = real_tostring(pattern) end
  return charge_search(s, pattern, math.tointeger(tonumber(first)), kind)
end
local function searching(real, kind)
  return function(s, pattern, first, ...)
    charge_strings(s, pattern, first)
    searched(s, pattern, first or 1, kind)
    return real(s, pattern, first, ...)
  end
end
local search_first = searching(find, "first")
local function own_find(s, pattern, first, is_plain, ...)
  if is_plain or type(pattern) == "string" and not find(pattern, "[%^%$%*%+%?%.%(%[%%%-]") then
    charge_strings(s, pattern)
    charge_plain_search(s, pattern)
    return find(s, pattern, first, is_plain, ...)
  end
  return search_first(s, pattern, first, is_plain, ...)
end

-- Each capture that a replacement names gives at most the whole text, over all matches.
local real_gsub = string.gsub
local function gsub(s, pattern, replacement, ...)
  charge_strings(s, pattern, replacement)
  local matches = searched(s, pattern, 1, "replace")
  local bytes = 0
  local function room(part)
    if type(part) == "string" then
      bytes = bytes + #part
      charge_bytes(bytes > 16 << 20 and bytes or #part)
    end
    return part
  end
  if type(replacement) == "table" then
    return real_gsub(s, pattern, function(key) return room(replacement[key]) end, ...)
  elseif type(replacement) == "function" then
    return real_gsub(s, pattern, function(...) return room((replacement(...))) end, ...)
  elseif matches and type(s) == "string" and type(replacement) == "string"
    and #s * #replacement > 4096 then
    local _, captures = real_gsub(replacement, "%%%d", "")
    charge_bytes((matches * 1.0 * #replacement) + captures * 1.0 * #s)
  end
  return real_gsub(s, pattern, replacement, ...)
end

string.dump, string.format, string.rep, string.gsub = nil, format, rep, gsub
string.find, string.match = own_find, searching(string.match, "first")
string.gmatch = searching(string.gmatch, "every")
for _, name in ipairs({ "byte", "lower", "pack", "reverse", "sub", "unpack", "upper" }) do
  string[name] = metered(string[name])
end
getmetatable("").__metatable = "string"
local real_concat, real_move = table.concat, table.move
local function shifting(real, last)
  return function(list, ...)
    local place = ...
    if type(list) == "table" and select("#", ...) == last and type(place) == "number" then
      charge_elements(#list - place)
    end
    return real(list, ...)
  end
end
local own_table = {
  concat = function(list, ...)
    charge_list(list, ...)
    return real_concat(list, ...)
  end,
  insert = shifting(table.insert, 2),
  move = function(from, first, last, ...)
    if type(first) == "number" and type(last) == "number" and first <= last then
      charge_elements(last * 1.0 - first)
    end
    return real_move(from, first, last, ...)
  end,
  pack = table.pack,
  remove = shifting(table.remove, 1),
  sort = sort,
  unpack = function(list, first, last)
    local from, to = first or 1, last or type(list) == "table" and #list
    if type(from) == "number" and type(to) == "number" then charge_elements(to * 1.0 - from) end
    return unpack(list, first, last)
  end,
}
local own_math = {
  random = function(low, high)
    local drawn = random()
    if low == nil then return drawn end
    if high == nil then low, high = 1, low end
    if high < low then error("math.random: expected a range that is not empty", 2) end
    return low + floor(drawn * (high - low + 1))
  end,
}
for _, name in ipairs({ "abs", "ceil", "floor", "fmod", "huge", "max", "maxinteger", "min",
  "mininteger", "modf", "sqrt", "tointeger", "type", "ult" }) do
  own_math[name] = math[name]
end

local base = {
  assert = assert, error = error, ipairs = ipairs, rawequal = rawequal, rawget = rawget,
  rawlen = rawlen, select = select, tonumber = metered(tonumber), type = type, getmetatable = getmetatable,
  rawset = raw_set, setmetatable = set_metatable, tostring = text, next = next_in,
  pairs = function(t)
    local metatable = getmetatable(t)
    local own = type(metatable) == "table" and metatable.__pairs
    if own then return own(t) end
    return every(t)
  end,
  pcall = function(f, ...) return caught(real_pcall(f, ...)) end,
  xpcall = function(f, handler, ...)
    if type(handler) ~= "function" then
      error("xpcall: expected a function as handler, got a " .. type(handler), 2)
    end
    -- Without its budget, a handler would not be stopped.
    local function handle(raised)
      if is_over() then return raised end
      return handler(raised)
    end
    return caught(real_xpcall(f, handle, ...))
  end,
  _VERSION = _VERSION,
  math = freeze(own_math, "math"), string = freeze(string, "string"),
  table = freeze(own_table, "table"),
}

-- The host.
local libraries = { math = own_math, string = string, table = own_table }
local function library(name, functions)
  libraries[name], base[name] = functions, freeze(functions, name)
end
local function of(operation)
  return function(...) return ask(operation, ...) end
end
local function server(place)
  return {
    call = function(...) return ask("call", place, ...) end,
    same = function(...) return ask("same", place, ...) end,
    script = function(...) return ask("script", place, ...) end,
  }
end
library("redis", server(0))
for name, functions in pairs({
  sql = { "query", "within", "begin", "go_on", "bound", "commit", "rollback", "session", "close" },
  memcached = { "add", "set", "cas", "get", "gets", "delete" },
  etcd = { "open", "close", "enter", "last_before", "wait_for_deletion", "exists", "delete" },
  zookeeper = { "create", "delete", "exists", "children", "forget", "wait" },
}) do
  local all = {}
  for _, one in ipairs(functions) do all[one] = of(name .. "." .. one) end
  library(name, all)
end

base.sleep, base.lost, base.now, base.monotonic = of("sleep"), of("lost"), now, monotonic
base.random_hex, base.retry_delay = random_hex, retry_delay
base.all = function(list, f)
  if type(list) ~= "table" or type(f) ~= "function" then
    error("all: expected a list and a function, got a " .. type(list) .. " and a " .. type(f), 2)
  end
  return ask("all", f, unpack(list))
end
base.timeout = function(milliseconds, f, ...)
  if type(f) ~= "function" then error("timeout: expected a function, got a " .. type(f), 2) end
  return ask("timeout", f, milliseconds, ...)
end
base.spawn = function(f, ...)
  if type(f) ~= "function" then error("spawn: expected a function, got a " .. type(f), 2) end
  local task = ask("spawn", f, ...)
  return { stop = function() return ask("stop", task) end }
end
-- FNV-1a, by which the judge knows the advisory lock of a key.
base.hash = function(key)
  local hash = 0xcbf29ce484222325
  for place = 1, #key do hash = (hash ~ string.byte(key, place)) * 0x100000001b3 end
  return hash
end
base.unknown = function(message) fail(text(message), true) end
base.refused = function(message) fail(text(message), false) end
base.is_unknown = function(failure) return type(failure) == "table" and failure.unknown == true end

local function instantiate(factory, masters)
  local env = setmetatable({ masters = {} }, { __index = base, __metatable = false })
  env._G = env
  for place = 1, masters do env.masters[place] = server(place) end
  factory(env)
  local function own(name) return rawget(env, name) end
  return own("lock"), own("acquire"), own("release"), own("extend"), own("is_held"), own("renew")
end

local function knows(name, field)
  if field == nil then return base[name] ~= nil or name == "masters" or name == "_G" end
  return libraries[name] == nil or libraries[name][field] ~= nil
end

local function names(name)
  local all = {}
  for key, value in every(libraries[name] or base) do
    if type(value) == "function" or name ~= nil then all[#all + 1] = key end
  end
  return table.concat(all, ", ")
end

return instantiate, knows, names
