use arbitrary::Unstructured;
use std::fmt::Write;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    Anything,
    Comparable,
}

const PRELUDE: &str = "local seen = {} local show show = function(v, d) \
    if type(v) == 'number' then return string.format('%.14g', v) end \
    if type(v) == 'string' then return string.format('%q', v) end \
    if type(v) ~= 'table' or d > 3 then return type(v) end local parts = {} \
    for k, x in pairs(v) do parts[#parts + 1] = show(k, d + 1) .. '=' .. show(x, d + 1) end \
    table.sort(parts) return '{' .. table.concat(parts, ',', 1, math.min(#parts, 50)) .. '}' end \
    local function try(body) local r = {pcall(body)} seen[#seen + 1] = show(r, 0) end \
    local t, u, v, w = {1, 2, 3, x = 1}, {'b', 'a', 'c'}, nil, 'text' \
    local function f(a) return a end ";

const NUMBERS: &[&str] = &[
    "0", "1", "-1", "2", "3", "7", "31", "32", "33", "36", "64", "100", "255", "256", "0.5",
    "-2.5", "'1'", "'0x10'", "'x'", "' 5 '", "2147483647", "2147483648", "-2147483648",
    "4294967296", "9007199254740993", "1e15", "1e300", "-1e300", "1/0", "-1/0", "0/0",
];
const STRINGS: &[&str] = &[
    "''",
    "'a'",
    "'abc'",
    "w",
    "'\\0a\\0'",
    "'\\255'",
    "('a'):rep(40)",
    "'%d'",
    "'%5.3s'",
    "'%q'",
    "'%-+ #0d'",
    "'%99.99f'",
    "'%x'",
    "'.*'",
    "'.-'",
    "'(a*)(.)%1'",
    "'%b()'",
    "'%f[%w]'",
    "'[a-'",
    "'[%'",
    "'%'",
    "'(('",
    "'()'",
    "('(a'):rep(33)",
    "'^a'",
    "'a$'",
    "'return 1'",
    "'for'",
    "'x='",
    "('{'):rep(300)",
    "'[==['",
    "'k'",
    "'__index'",
    "'{\"a\":[1,2.5,null,true,\"\\\\u00e9\"]}'",
    "'[1,{\"b\":{}}]'",
    "'[1,'",
    "'\\\"'",
    "'>I2'",
    "'<i4s'",
    "'bBhHlLfdc5'",
    "'>!4i8'",
    "'i33'",
    "'\\148\\1\\192\\195\\161a'",
    "'\\221\\255\\255\\255\\255'",
    "'1e400'",
    "'SET'",
    "'GET'",
    "'k1'",
];
const TABLES: &[&str] = &[
    "{}",
    "{1, 2, 3}",
    "{1, nil, 3}",
    "{a = 1, b = {2}}",
    "t",
    "u",
    "{{}, {}, {}}",
    "{3, 1, 2, 'x'}",
    "setmetatable({}, {__index = t})",
    "setmetatable({}, {__newindex = function() end})",
    "setmetatable({}, {__tostring = function() return 'x' end})",
    "{[1] = 1, [100] = 2}",
    "KEYS",
    "setmetatable({}, {__call = function(...) return ... end})",
    "{ok = 'fine'}",
    "{err = 'MY x'}",
    "{[1.5] = 1}",
    "{cjson.null}",
    "{double = 0.5}",
];
const FUNCTIONS: &[&str] = &[
    "f",
    "function(...) return ... end",
    "function() end",
    "function(a, b) return a < b end",
    "function() return true end",
    "tostring",
    "string.rep",
    "error",
    "function() error({}) end",
    "next",
    "unpack",
    "function(x) t[x] = nil return x end",
    "redis.pcall",
    "cjson.encode",
];
const LIBRARY: &[&str] = &[
    "string.byte",
    "string.char",
    "string.find",
    "string.format",
    "string.gsub",
    "string.len",
    "string.lower",
    "string.match",
    "string.reverse",
    "string.sub",
    "string.upper",
    "table.concat",
    "table.foreach",
    "table.foreachi",
    "table.getn",
    "table.insert",
    "table.maxn",
    "table.remove",
    "table.sort",
    "assert",
    "getmetatable",
    "ipairs",
    "loadstring",
    "next",
    "pairs",
    "rawequal",
    "rawget",
    "rawset",
    "select",
    "setmetatable",
    "tonumber",
    "type",
    "unpack",
    "pcall",
    "coroutine.create",
    "coroutine.status",
    "coroutine.wrap",
    "coroutine.yield",
    "math.floor",
    "math.fmod",
    "math.max",
    "math.pow",
    "math.ldexp",
    "math.frexp",
    "error",
    "cjson.encode",
    "cjson.decode",
    "cmsgpack.pack",
    "cmsgpack.unpack",
    "cmsgpack.unpack_one",
    "cmsgpack.unpack_limit",
    "bit.tobit",
    "bit.tohex",
    "bit.band",
    "bit.bor",
    "bit.bxor",
    "bit.bnot",
    "bit.lshift",
    "bit.rshift",
    "bit.arshift",
    "bit.rol",
    "bit.ror",
    "bit.bswap",
    "redis.sha1hex",
    "redis.error_reply",
    "redis.status_reply",
    "redis.setresp",
    "redis.call",
    "redis.pcall",
    "cjson.encode_sparse_array",
    "cjson.encode_max_depth",
    "cjson.decode_max_depth",
    "cjson.encode_number_precision",
    "cjson.encode_keep_buffer",
    "cjson.encode_invalid_numbers",
    "cjson.decode_invalid_numbers",
    "math.modf",
    "math.abs",
];
/// Functions that programs of [`comparable_program`] never call.
const WILD: &[&str] = &[
    "string.rep", "string.dump", "string.gmatch", "tostring", "collectgarbage", "gcinfo",
    "setfenv", "getfenv", "math.random", "math.randomseed", "redis.log", "redis.set_repl",
    "redis.breakpoint", "redis.acl_check_cmd", "redis.replicate_commands", "coroutine.running",
    "coroutine.resume", "table.setn", "load", "xpcall",
];
const COMMANDS: &[&str] = &[
    "'SET', 'k1', w",
    "'GET', 'k1'",
    "'DEL', 'k1'",
    "'INCR', 'n'",
    "'HSET', 'h', 'f', 1",
    "'HGETALL', 'h'",
    "'ZADD', 'z', 1, 'a'",
    "'ZRANGE', 'z', 0, -1, 'WITHSCORES'",
    "'NOSUCH'",
    "'LPUSH', 'l', 1",
    "'LRANGE', 'l', 0, -1",
    "'SADD', 's', 'a'",
    "'SMEMBERS', 's'",
    "'PING'",
    "'MULTI'",
    "'ECHO', 1e17",
];

pub fn program(bytes: &mut Unstructured<'_>) -> String {
    Author { bytes, reach: Reach::Anything }.program()
}

pub fn comparable_program(bytes: &mut Unstructured<'_>) -> String {
    Author { bytes, reach: Reach::Comparable }.program()
}

struct Author<'b, 'u> {
    bytes: &'b mut Unstructured<'u>,
    reach: Reach,
}

impl Author<'_, '_> {
    fn program(&mut self) -> String {
        let mut text = PRELUDE.to_owned();
        let statements = self.below(7) + 1;
        for _ in 0..statements {
            let statement = self.statement();
            let _ = match self.below(8) {
                0 => write!(text, "{statement} "),
                _ => write!(text, "try(function() {statement} return v end) "),
            };
        }
        text + "seen[#seen + 1] = show(v, 0) return seen"
    }

    fn below(&mut self, bound: usize) -> usize {
        self.bytes.choose_index(bound).unwrap_or(0)
    }

    fn one<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[self.below(words.len())]
    }

    fn call(&mut self, depth: usize) -> String {
        let is_wild = self.reach == Reach::Anything && self.below(6) == 0;
        let name = self.one(if is_wild { WILD } else { LIBRARY });
        if name.starts_with("redis.") && name.ends_with("call") && self.below(4) != 0 {
            return format!("{name}({})", self.one(COMMANDS));
        }
        let count = self.below(5);
        let arguments: Vec<String> = (0..count).map(|_| self.expression(depth)).collect();
        format!("{name}({})", arguments.join(", "))
    }

    fn expression(&mut self, depth: usize) -> String {
        let kinds = if depth < 2 { 12 } else { 9 };
        match self.below(kinds) {
            0 | 1 => self.one(NUMBERS).to_owned(),
            2..=4 => self.one(STRINGS).to_owned(),
            5 | 6 => self.one(TABLES).to_owned(),
            7 => self.one(FUNCTIONS).to_owned(),
            8 => "v".to_owned(),
            9 | 10 => format!("({})", self.call(depth + 1)),
            _ => {
                let (left, right) = (self.expression(depth + 1), self.expression(depth + 1));
                let sign = self.one(&["..", "+", "*", "<", "==", "-", "%", "^", "and", "or"]);
                format!("({left} {sign} {right})")
            }
        }
    }

    fn statement(&mut self) -> String {
        match self.below(10) {
            0..=3 => format!("v = {}", self.call(0)),
            4 => format!("t[{}] = {}", self.expression(1), self.expression(1)),
            5 => format!("u[#u + 1] = {}", self.expression(1)),
            6 => {
                let (count, call) = (self.one(&["3", "50", "200"]), self.call(1));
                format!("for i = 1, {count} do v = {call} end")
            }
            7 => format!("v = {{{}, {}}}", self.expression(0), self.call(1)),
            8 => {
                let (first, second) = (self.call(1), self.expression(1));
                format!(
                    "local co = coroutine.create(function(...) {first} coroutine.yield({second}) \
                     end) v = {{coroutine.resume(co, {second})}} coroutine.resume(co)"
                )
            }
            _ => format!("v = (function(...) return select('#', ...) end)({})", self.call(1)),
        }
    }
}
