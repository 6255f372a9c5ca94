use super::{check_eval, eval};
use crate::script::host::{Result, native, string, text_of};
use crate::script::{engine, shared};
use crate::testing::Bench;
use luna_core::runtime::Value;
use luna_core::vm::Vm;

fn fingerprint() -> String {
    const WALK: &str = r#"
        local is_open, seen, lines = ..., {}, {}
        local function walk(path, value)
            if type(value) == "function" then
                lines[#lines + 1] = path .. " " .. tostring(value)
            elseif type(value) ~= "table" then
                lines[#lines + 1] = path .. " " .. type(value) .. " " .. tostring(value)
            elseif not seen[value] then
                seen[value] = true
                lines[#lines + 1] = path .. " " .. tostring(value)
                    .. (is_open(value) and " OPEN" or "")
                for key, content in next, value do
                    if key ~= "KEYS" and key ~= "ARGV" then
                        walk(path .. "." .. tostring(key), content)
                    end
                end
                walk(path .. ":metatable", getmetatable(value))
            end
        end
        walk("_G", _G)
        walk("string", getmetatable(""))
        return table.concat(lines, "\n")
    "#;
    let text = engine::with(|engine| {
        let is_open = native!(|call| Ok(!shared::is_shared(call.value(1))));
        let is_open = engine.vm().native(is_open);
        run(engine.vm(), WALK, &[is_open]).map(text_of)
    });
    String::from_utf8(text.unwrap().unwrap()).unwrap()
}

fn run(vm: &mut Vm, chunk: &str, arguments: &[Value]) -> Result<Value> {
    let chunk = vm.load(chunk.as_bytes(), b"=test").unwrap();
    Ok(vm.call_value(Value::Closure(chunk), arguments)?[0])
}

#[test]
fn whatever_scripts_can_reach_is_read_only() {
    eval(&mut Bench::new(), "return 1");
    let seen = fingerprint();
    assert!(seen.lines().count() > 100, "{seen}");
    assert!(!seen.contains("OPEN"), "{seen}");
    for name in
        ["redis.call", "string.rep", "cjson.encode", "table:", "coroutine.wrap", "bit.tohex"]
    {
        assert!(seen.contains(name.trim_end_matches(':')), "{name}: {seen}");
    }
}

const WRITES: [&str; 12] = [
    "t.leak = 1",
    "t[1] = 1",
    "rawset(t, 'leak', 1)",
    "rawset(t, 1, 1)",
    "table.insert(t, 1)",
    "table.insert(t, 1, 1)",
    "table.sort(t, function() return true end) t[1] = 2",
    "setmetatable(t, {__index = function() return 1 end})",
    "setmetatable(t, nil)",
    "function t.leak() end",
    "for k in pairs(t) do t[k] = nil end",
    "for k in next, t do rawset(t, k, 1) end",
];

const SHARED_TABLES: [&str; 20] = [
    "_G",
    "_G._G",
    "redis",
    "string",
    "table",
    "math",
    "coroutine",
    "bit",
    "cjson",
    "cmsgpack",
    "getmetatable(_G)",
    "getmetatable('')",
    "getmetatable('').__index",
    "select(2, pairs(redis))",
    "select(2, pairs(_G))",
    "select(2, ipairs(string))",
    "rawget(_G, 'redis')",
    "getmetatable(select(2, pairs(_G)))",
    "coroutine.wrap(function() return _G.redis end)()",
    "loadstring('return redis')()",
];

#[test]
fn scripts_cannot_change_what_later_scripts_see() {
    let mut bench = Bench::new();
    eval(&mut bench, "return 1");
    let before = fingerprint();
    for way in SHARED_TABLES {
        for write in WRITES {
            let attempt = format!("local t = {way} {write}");
            let answer = eval(&mut bench, &attempt);
            let is_refused = answer.contains("Attempt to modify a readonly table");
            assert!(
                is_refused || answer == "$-1" || answer.contains("bad argument"),
                "{attempt}: {answer}"
            );
            assert_eq!(fingerprint(), before, "{attempt}");
        }
    }
    for attempt in ATTEMPTS {
        eval(&mut bench, attempt);
        eval(&mut bench, &format!("pcall(function() {attempt} end)"));
        assert_eq!(fingerprint(), before, "{attempt}");
    }
}

const ATTEMPTS: [&str; 20] = [
    "leak = 1",
    "KEYS = nil",
    "KEYS.leak = 1 ARGV.leak = 1",
    "local f = loadstring('leak = 1') f()",
    "local f = load(function() return nil end) f() leak = 2",
    "coroutine.wrap(function() leak = 1 end)()",
    "for name, library in pairs(_G) do pcall(function() library.leak = 1 end) end",
    "table.foreach(_G, function(name) _G[name] = 1 end)",
    "error(redis)",
    "error(_G)",
    "error(KEYS)",
    "error(setmetatable({}, {__index = redis}))",
    "return redis",
    "__redis__err__handler(redis)",
    "xpcall(error, function() redis.call = nil end)",
    "redis.setresp(3) redis.set_repl(redis.REPL_NONE)",
    "math.randomseed(42)",
    "collectgarbage('stop')",
    "collectgarbage('setpause', 1)",
    "string.gsub('abc', '.', function() redis.call = nil end)",
];

#[test]
fn what_a_script_sets_of_its_run_ends_with_it() {
    let mut bench = Bench::new();
    eval(&mut bench, "redis.setresp(3) redis.set_repl(redis.REPL_NONE) math.randomseed(42)");
    assert_eq!(eval(&mut Bench::new(), "return math.random(100)"), ":40", "the server's own seed");
    assert_eq!(eval(&mut bench, "return redis.call('HSET', 'h', 'f', 'v')"), ":1");
    assert_eq!(eval(&mut bench, "return #redis.call('HGETALL', 'h')"), ":2", "RESP2 again");
    bench.propagated();
    eval(&mut bench, "redis.call('SET', 'k', 'v')");
    assert_eq!(bench.propagated(), "SET k v", "propagated again");
}

#[test]
fn a_planted_leak_is_caught() {
    let mut bench = Bench::new();
    eval(&mut bench, "return 1");
    let before = fingerprint();
    let set = |value: &str| {
        engine::with(|engine| {
            let name = string(engine.vm(), b"redis");
            let Value::Table(globals) = engine.globals else { panic!("no globals") };
            let Value::Table(redis) = shared::real(globals).get(name) else { panic!("no redis") };
            let redis = Value::Table(shared::real(redis));
            let chunk = format!("local redis = ... redis.leak = {value} return 1");
            run(engine.vm(), &chunk, &[redis]).map(text_of)
        })
        .unwrap();
    };
    set("1");
    assert_ne!(fingerprint(), before, "a value more");
    set("{}");
    assert!(fingerprint().contains("OPEN"), "a table that scripts can write to");
    set("nil");
    assert_eq!(fingerprint(), before);
}

const LEAKY_EXPRESSIONS: [&str; 7] = [
    "return tostring({}) .. tostring(function() end) .. tostring(coroutine.create(function() end))",
    "return tostring(KEYS) .. tostring(ARGV) .. tostring(redis) .. tostring(redis.call)",
    "return collectgarbage('count') .. gcinfo() .. collectgarbage('collect') .. \
     tostring(collectgarbage('step'))",
    "local t, seen = {}, '' for i = 1, 60 do t[{i}] = i end for _, i in pairs(t) do seen = seen .. \
     ' ' .. i end return seen",
    "local t, seen = {[KEYS] = 1, [ARGV] = 2, [redis.call] = 3, [string] = 4}, '' for i = 5, 20 do \
     t[function() return i end] = i end for _, i in pairs(t) do seen = seen .. ' ' .. i end return \
     seen",
    "local t = setmetatable({}, {__mode = 'kv'}) for i = 1, 20000 do t[i] = {} end local n = 0 for \
     _ in pairs(t) do n = n + 1 end return n",
    "local t, seen = {}, '' for i = 1, 40 do t['k' .. i] = i end for i = 1, 30 do t['k' .. i] = \
     nil end for i = 1, 3000 do local s = {('x'):rep(i % 100)} end for i = 30, 1, -1 do t['k' .. \
     i] = i end for k in pairs(t) do seen = seen .. k end return seen",
];

#[test]
fn what_a_script_sees_does_not_depend_on_what_ran_before_on_its_thread() {
    let fresh: Vec<String> = LEAKY_EXPRESSIONS
        .iter()
        .map(|script| {
            let run = move || eval(&mut Bench::new(), script);
            std::thread::spawn(run).join().unwrap()
        })
        .collect();
    let spoilers = [
        "return 1",
        "local t = {} for i = 1, 5000 do t[i] = {i .. 'text'} end return #t",
        "KEYS[1] = 1 error({})",
        "return redis.error_reply('x') --[[ compiled ]]",
        "local s = 'x' for i = 1, 16 do s = s .. s end return #s",
        "pcall(redis.call, 'NOSUCH') redis.call('SET', 'k', 'v') return redis.call('GET', 'k')",
        "for i = 1, 50 do coroutine.wrap(function() coroutine.yield(i) end)() end",
        "return #string.rep('x', 30000000)",
        "while true do end",
    ];
    for spoiler in spoilers {
        eval(&mut Bench::new(), spoiler);
        for (script, expected) in LEAKY_EXPRESSIONS.iter().zip(&fresh) {
            assert_eq!(&eval(&mut Bench::new(), script), expected, "{script}\nafter {spoiler}");
        }
    }
}

#[test]
fn tables_have_numbers_in_place_of_addresses() {
    check_eval("return tostring({}) ~= tostring({})", ":1");
    check_eval("local t = {} return tostring(t) == tostring(t)", ":1");
    check_eval("return tostring(cjson.null)", "$15|userdata: (nil)");
}

#[test]
fn the_bound_on_instructions_strikes_at_the_same_place_whatever_ran_before() {
    const COUNT: &str = "while true do for i = 1, 999 do end redis.call('INCR', 'n') end";
    let counted = |before: &str| {
        let mut bench = Bench::new();
        eval(&mut bench, before);
        eval(&mut bench, COUNT);
        bench.run("GET n")
    };
    let first = counted("return 1");
    assert_eq!(counted("for i = 1, 12345 do local x = {} end"), first);
    assert_eq!(counted("return #string.rep('x', 123456)"), first);
}
