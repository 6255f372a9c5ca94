use super::{InvalidScript, Script};
use crate::lock::{Acquisition, Check, Extension, Lock, Release};
use crate::testing::{Answer, TestWorld, granted, normal, once, one, settings};
use std::rc::Rc;

const RELEASE: &str = "function release() return true end\n";

fn script(text: &str) -> Result<Script, String> {
    Script::read("lock.lua", text).map_err(|InvalidScript(problem)| problem)
}

fn build(text: &str) -> (Rc<TestWorld>, Box<dyn Lock>) {
    let world = TestWorld::new();
    world.serve("redis", normal);
    let lock = script(text).unwrap().build(world.env(), &one(), &settings());
    (world, lock)
}

fn acquired(body: &str) -> String {
    let (world, mut lock) = build(&format!("{RELEASE}function acquire(key, ttl)\n{body}\nend\n"));
    match world.run(lock.acquire("lock")) {
        Acquisition::Granted(lease) => format!("granted {}", String::from_utf8_lossy(&lease.owner)),
        Acquisition::Refused(reason) => format!("refused: {reason}"),
        Acquisition::Unknown(reason) => format!("unknown: {reason}"),
    }
}

const FIFTEEN_LINES: &str = r#"
local DEL = [[if redis.call("get",KEYS[1]) == ARGV[1] then
    return redis.call("del",KEYS[1])
else
    return 0
end]]
function acquire(key, ttl)
  local owner = random_hex(20)
  if redis.call("SET", key, owner, "NX", "PX", ttl) then return owner end
end
function release(key, owner)
  return redis.script(DEL, key, owner) == 1
end
"#;

#[test]
fn the_shortest_lock_sends_what_its_rust_twin_sends() {
    let trace = |lock: &dyn Fn(&Rc<TestWorld>) -> Box<dyn Lock>| {
        let world = TestWorld::new();
        world.serve("redis", normal);
        let mut lock = lock(&world);
        let lease = granted(world.run(lock.acquire("lock")));
        assert_eq!(world.run(lock.release(lease)), Release::Released);
        let trace = world.trace();
        trace.lines().map(|line| line.split(" [").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let own = script(FIFTEEN_LINES).unwrap();
    let twin = trace(&|world| world.lock("single-node", &one(), &settings()));
    let lua = trace(&|world| own.build(world.env(), &one(), &settings()));
    assert_eq!(lua, twin);
}

#[test]
fn a_lost_reply_is_unknown_unless_the_script_catches_it() {
    let world = TestWorld::new();
    world.serve("redis", once("SET", Answer::Lost));
    let short = crate::lock::Settings { acquire_timeout: std::time::Duration::ZERO, ..settings() };
    let mut lock = script(FIFTEEN_LINES).unwrap().build(world.env(), &one(), &short);
    let unknown = Acquisition::Unknown("no reply within 500 ms".to_owned());
    assert_eq!(world.run(lock.acquire("lock")), unknown);
}

#[test]
fn every_error_of_a_script_is_one_line_with_its_place() {
    for (text, told) in [
        ("x = = 1", "lock.lua:1:5: unexpected symbol near '='"),
        ("function acquire(", "lock.lua:1:18: "),
        ("\n  foo()", "lock.lua:2:3: unknown function 'foo': expected one of all, assert, "),
        ("redis.cal('GET')", "lock.lua:1:7: unknown function 'redis.cal': expected one of call, "),
        (
            "print('x')",
            "lock.lua:1:1: unknown function 'print', which scripts do not have: expected one of all",
        ),
        ("local x\nx = y.z", "lock.lua:2:5: attempt to index a nil value (global 'y')"),
        ("while true do end", "lock.lua:1:1: 200,000 instructions without a wait"),
        ("local function f() return f() + 1 end f()", "lock.lua:1:1: 200,000 instructions"),
        ("local s = 'xxxxxxxx' while true do s = s .. s end", "lock.lua:1:1: the script uses"),
        ("\nlocal s = string.rep('x', 1 << 30)", "lock.lua:2:1: the script uses more than 16 MB"),
        ("pcall(function() while true do end end) while true do end", "lock.lua:1:1: 200,000"),
        (
            "redis.call('GET', 'x')",
            "lock.lua:1:1: a function of the host is called where it cannot wait",
        ),
        ("", "lock.lua: acquire is missing: expected 'function acquire(key, ...)'"),
        (
            "\nfunction aquire() end function release() end",
            "lock.lua:2:10: acquire is missing: expected 'function acquire(key, ...)', not 'aquire'",
        ),
        ("acquire = 5", "lock.lua:1:1: acquire is a number: expected"),
        ("lock = 5 function acquire() end release = acquire", "lock.lua:1:1: lock is a number"),
        (
            "lock = { tll = 5 } function acquire() end release = acquire",
            "lock.lua:1:10: lock.tll (did you mean 'ttl'?): expected one of deployment, ",
        ),
        (
            "lock = { ttl = '5' } function acquire() end release = acquire",
            "lock.lua:1:10: lock.ttl '5'",
        ),
        (
            "lock = { deployment = 'x' } function acquire() end release = acquire",
            "lock.lua:1:10: lock.deployment 'x': expected one of single, independent, ",
        ),
        (
            "lock = { retry = {5} } function acquire() end release = acquire",
            "lock.lua:1:10: lock.retry: ",
        ),
        ("function acquire() end release = acquire renew = 5", "lock.lua:1:42: renew is a number"),
        ("string.x = 5", "lock.lua:1:1: 'string.x' cannot be set"),
        ("setmetatable({}, {__gc = 1})", "lock.lua:1:1: setmetatable: __gc and __mode"),
        ("pairs({[{}] = 1})", "lock.lua:1:1: pairs: a table with tables"),
        ("string.format('%p', {})", "lock.lua:1:1: string.format: %p"),
        ("error({})", "lock.lua:1:1: an error that is a table"),
        ("error(nil)", "lock.lua:1:1: an error that is nil: expected a message"),
        (
            "local function acquire() end function release() end",
            "lock.lua:1:16: acquire is local: remove 'local'",
        ),
        (
            "function acquire() end\nlocal release = acquire",
            "lock.lua:2:7: release is local: remove 'local'",
        ),
        ("\u{feff}#!/usr/bin/env lua\nx = = 1", "lock.lua:2:5: unexpected symbol near '='"),
    ] {
        let problem = script(text).expect_err(text);
        assert!(problem.starts_with(told) && !problem.contains('\n'), "{text}: {problem}");
    }
    let long = "-".repeat(300 * 1024);
    assert_eq!(
        script(&long).unwrap_err(),
        "lock.lua: 307200 bytes: expected a script of at most 256 KB"
    );
}

#[test]
fn a_command_that_no_server_accepts_is_an_error_of_the_script_with_its_line() {
    let refusing = |answer: &'static str, body: &str| {
        let world = TestWorld::new();
        world.serve("redis", move |call| match call.name() {
            "CONNECT" => Answer::Normal,
            _ => Answer::Says(answer),
        });
        let text = format!("{RELEASE}function acquire(key)\n{body}\nend\n");
        let mut lock = script(&text).unwrap().build(world.env(), &one(), &settings());
        world.run(lock.acquire("lock"))
    };
    for (call, answer, told) in [
        (
            "redis.call('SETT', key)",
            "-ERR unknown command 'SETT', with args beginning with: 'lock' \r\n",
            "lock.lua:2:1: the server answered ERR unknown command 'SETT'",
        ),
        (
            "redis.call('SET', key)",
            "-ERR wrong number of arguments for 'set' command\r\n",
            "lock.lua:2:1: the server answered ERR wrong number of arguments for 'set' command",
        ),
        (
            "1, redis.call('SET', key, 'x', 'NXX')",
            "-ERR syntax error\r\n",
            "lock.lua:3:3: the server answered ERR syntax error",
        ),
        (
            "redis.call('SET', key, 'x', 'NXX')",
            "-ERR syntax error\r\n",
            "lock.lua:2:1: the server answered ERR syntax error",
        ),
    ] {
        let unknown = Acquisition::Unknown(told.to_owned());
        assert_eq!(refusing(answer, &format!("  return {call}")), unknown);
        let caught = refusing(answer, "  pcall(redis.call, 'SETT', key) return 'me'");
        assert!(matches!(caught, Acquisition::Granted(_)), "{caught:?}");
    }
    for answer in ["-READONLY no\r\n", "-MISCONF no\r\n", "-LOADING no\r\n", "-ERR no\r\n"] {
        let told = answer.trim_end().trim_start_matches('-');
        let refused = Acquisition::Refused(format!("the server answered {told}").into());
        assert_eq!(refusing(answer, "  return redis.call('SETT', key)"), refused);
    }
}

#[test]
fn long_work_of_luas_own_functions_counts_as_instructions_and_memory() {
    const X: &str = "local s = string.rep('x', 100000)";
    for (text, told) in [
        ("local u = {} for i = 1, 1000 do u[i] = s end\ntable.concat(u)", "memory"),
        ("local t = {'a', 'b'} for i = 1, 30000 do\ntable.concat(t, s) end", "instructions"),
        ("\ns:gsub('x', s)", "memory"),
        ("\ns:gsub('.', string.rep('%0', 200))", "memory"),
        ("\ns:gsub('x', function() return s end)", "instructions"),
        ("\ns:gsub('x', {x = s})", "instructions"),
        ("for i = 1, 200 do\nstring.format('%s%s%s%s%s%s', s, s, s, s, s, s) end", "instructions"),
        ("\nstring.format('%99999d', 1)", "invalid conversion"),
        ("\ntable.move({}, 1, 1e12 // 1 | 0, 2)", "instructions"),
        ("\ntable.move({}, 1, 1e12, 2)", "instructions"),
        ("\ntable.move({}, math.mininteger, math.maxinteger, 2)", ""),
        ("local t = {} for i = 1, 30000 do\ntable.insert(t, 1, i) end", "instructions"),
        ("for i = 1, 100000 do\nstring.rep(s, 100) end", "instructions"),
        ("for i = 1, 100000 do\ns:upper() end", "instructions"),
        ("for i = 1, 100000 do\ntonumber(s) end", "instructions"),
        ("for i = 1, 10000 do\ns:find('y') end", "instructions"),
        ("\npcall(table.move, {}, 1, 1 << 40, 2) pcall(table.move, {}, 1, 1 << 40, 2)", "instruc"),
        ("\nstring.format('%' .. string.rep('0', 20000))", "instructions"),
        ("local x = s .. 'y'\nlocal t = s .. s t:find(x, 1, true)", "instructions"),
        ("local x = s .. 'y'\nlocal t = s .. s t:find(x)", "instructions"),
        ("\nxpcall(function() while true do end end, function() while true do end end)", "instr"),
    ] {
        let problem = script(&format!("{X} {text}")).expect_err(text);
        let is_placed = problem.starts_with("lock.lua:2:");
        assert!(is_placed && !problem.contains('\n'), "{text}: {problem}");
        let expected = match told {
            "memory" => "the script uses more than 16 MB: expected at most 16 MB",
            "instructions" => "200,000 instructions without a wait",
            other => other,
        };
        assert!(problem.contains(expected), "{text}: {problem}");
    }
    let fine = "local t = {} for word in ('role:master,ttl:5'):gmatch('%w+') do t[#t + 1] = word end
        assert(table.concat(t, '-', 2, 3) == 'master-ttl') assert(('abc'):gsub('b', '%0%0') == 'abbc')
        assert(('abc'):gsub('%w', {b = 'x'}) == 'axc' and ('a'):gsub('a', function() end) == 'a')
        table.insert(t, 1, 'x') assert(table.remove(t, 1) == 'x' and table.remove(t) == '5')
        assert(#table.move(t, 1, 2, 3) == 4 and select('#', table.unpack(t, 1, 3)) == 3)
        function acquire() end release = acquire";
    script(fine).unwrap();
}

#[test]
fn a_pattern_that_backtracks_without_end_counts_as_instructions() {
    let many = ["('a*'):rep(30)", "('a?'):rep(60)", "('.-'):rep(30)", "('%g+'):rep(20)"];
    let calls = ["find(PATTERN)", "match(PATTERN)", "gmatch(PATTERN)()", "gsub(PATTERN, '')"];
    let later = ["find(PATTERN, -60)", "match(PATTERN, 2.0)", "gmatch(PATTERN, '3')()"];
    for pattern in many {
        for call in calls.iter().chain(&later) {
            let call = call.replace("PATTERN", &format!("{pattern} .. 'b'"));
            let told = script(&format!("local s = ('a'):rep(60)\ns:{call}")).expect_err(&call);
            let expected = "lock.lua:2:1: 200,000 instructions without a wait";
            assert!(told.starts_with(expected), "{call}: {told}");
        }
    }
    let number = "\nstring.find(1111111111111111111, ('1*'):rep(19) .. 'b')";
    let told = script(number).expect_err(number);
    assert!(told.starts_with("lock.lua:2:1: 200,000 instructions"), "{told}");
    let set = "\nlocal s = ('a'):rep(2000) s:find('[' .. ('b'):rep(2000) .. ']')";
    let told = script(set).expect_err(set);
    assert!(told.starts_with("lock.lua:2:1: 200,000 instructions"), "{told}");
}

#[test]
fn searches_find_what_lua_finds() {
    let fine = r##"
        local function check(expected, ...)
          local shown = {}
          for place = 1, select("#", ...) do shown[place] = tostring((select(place, ...))) end
          assert(table.concat(shown, " ") == expected, table.concat(shown, " "))
        end
        check("3 3", ("a.b"):find("b")) check("2 2", ("a.b"):find(".", 2, true))
        check("nil", ("ab"):find("a", 2)) check("2 2 b", ("ab"):find("(b)", -1))
        check("nil", ("ab"):find("^b")) check("1 1", ("ab"):find("^a")) check("1 0", ("ab"):find(""))
        check("nil", ("ab"):find("x", 9)) check("2 1", ("a"):find("", 2)) check("1 2", string.find(12, 12))
        check("k v", ("k=v"):match("(%w+)=(%w+)")) check("b", ("ab"):match(".", "2"))
        check("x 1", ("abc"):gsub("%w*", "x")) check("xbc 1", ("abc"):gsub("%w", "x", 1))
        check("b 2", ("aba"):gsub("(a)(b?)", "%2")) check("^ 1", ("a"):gsub("^a", "^"))
        local words = {}
        for word in ("a b ^c"):gmatch("%g+") do words[#words + 1] = word end
        check("a,b,^c", table.concat(words, ",")) check("^", ("a^"):gmatch("^")())
        for _, wrong in ipairs({ "(", "[a", "%", "%1", "%b", "(a))" }) do
          assert(not pcall(string.find, "a", wrong), wrong)
        end
        assert(not pcall(string.find, "a") and not pcall(string.find, {}, "a"))
        assert(not pcall(string.find, "a", "%w", 1.5) and not pcall(string.find, "a", "%w", {}))
        function acquire() end release = acquire"##;
    script(fine).unwrap();
}

#[test]
fn what_a_script_does_wrong_in_a_call_is_unknown_with_the_reason() {
    for (body, told) in [
        ("return true", "unknown: lock.lua:2:1: acquire returned a boolean: expected the owner"),
        ("return {}", "unknown: lock.lua:2:1: acquire returned a table whose owner is a nil"),
        (
            "return {owner = 'x', token = -1}",
            "unknown: lock.lua:2:1: acquire returned the token '-1'",
        ),
        (
            "return {owner = 'x', valid_until = 0 / 0}",
            "unknown: lock.lua:2:1: acquire returned valid_until NaN: expected a time of monotonic()",
        ),
        (
            "return {owner = 'x', valid_until = math.huge}",
            "unknown: lock.lua:2:1: acquire returned valid_until inf: expected a time of monotonic()",
        ),
        ("return nil, 'too early'", "refused: too early"),
        ("return 42", "granted 42"),
        ("refused('no')", "refused: no"),
        ("unknown('who knows')", "unknown: who knows"),
        ("while true do end", "unknown: lock.lua:3:1: 200,000 instructions without a wait"),
        (
            "while true do pcall(function() while true do end end) end",
            "unknown: lock.lua:3:1: 200,0",
        ),
        ("while true do spawn(function() end) end", "unknown: lock.lua:3:1: 200,000"),
        ("local x = nil\nreturn x.y", "unknown: lock.lua:4:8: attempt to index a nil value"),
        ("redis.call('GET', {})", "unknown: lock.lua:3:1: call: argument 2 is a table"),
        ("redis.call()", "unknown: lock.lua:3:1: call: expected a command"),
        ("return redis.call()", "unknown: lock.lua:2:1: call: expected a command"),
        ("masters[1].call('GET')", "unknown: lock.lua:3:1: attempt to index a nil value"),
        ("sleep('x')", "unknown: lock.lua:3:1: sleep: expected milliseconds, got a string"),
        ("sleep(-1)", "unknown: lock.lua:3:1: sleep: -1 ms: expected 0 to 86400000"),
        (
            "random_hex(0)",
            "unknown: lock.lua:3:1: random_hex: expected 1 to 1024 bytes, like random_hex(20)",
        ),
        (
            "return (string.gsub('x', 'x', function() return redis.call('GET', 'x') end))",
            "unknown: lock.lua:3:1: a function of the host is called where it cannot wait",
        ),
    ] {
        let outcome = acquired(body);
        assert!(outcome.starts_with(told) && !outcome.contains('\n'), "{body}: {outcome}");
    }
}

#[test]
fn a_number_is_no_answer_to_whether_the_lock_was_released() {
    let (world, mut lock) = build(
        "function acquire() return 'me' end\nfunction release() return 0 end\n\
         function is_held() return true end\nfunction extend() return false end",
    );
    let mut lease = granted(world.run(lock.acquire("lock")));
    assert_eq!(world.run(lock.check(&lease)), Check::Ours);
    assert_eq!(world.run(lock.extend(&mut lease)), Extension::NotHeld);
    let Release::Unknown(reason) = world.run(lock.release(lease)) else { panic!("unknown") };
    assert_eq!(
        reason,
        "lock.lua:2:1: release returned a number: expected true, false or nil; 0 is true in Lua"
    );
}

#[test]
fn calls_run_at_once_beside_each_other_and_within_a_limit() {
    let told = acquired(
        "local began = monotonic()
         local got, failed = all({30, 10, 20}, function(ms)
           sleep(ms)
           if ms == 10 then unknown('lost') end
           return ms
         end)
         local ok, late = pcall(timeout, 5, function() sleep(100) end)
         local inner = timeout(500, function(a, b) sleep(1) return a + b end, 1, 2)
         local task = spawn(function() while true do sleep(1) end end)
         task.stop()
         return string.format('%d %d %s %s %s %s %d', got[1], got[3], tostring(got[2]),
           tostring(failed[2]), is_unknown(late), tostring(late), inner) ..
           string.format(' %.1f', monotonic() - began)",
    );
    assert_eq!(told, "granted 30 20 nil lost true no reply within 5 ms 3 36.0");
}

#[test]
fn an_error_in_a_task_is_reported_by_the_next_call() {
    let (world, mut lock) = build(&format!(
        "{RELEASE}local begun\nfunction acquire()\n\
         if not begun then begun = spawn(function() local x = nil; x() end) end\n\
         sleep(5) return 'me' end"
    ));
    granted(world.run(lock.acquire("lock")));
    let Acquisition::Unknown(reason) = world.run(lock.acquire("lock")) else {
        panic!("the error is reported")
    };
    assert!(reason.starts_with("lock.lua:4:59: attempt to call a nil value"), "{reason}");
}

#[test]
fn tables_are_gone_through_in_the_order_of_their_keys_and_sorts_are_stable() {
    let told = acquired(
        "local t, seen = {b = 1, a = 2, [3] = 1, [1.5] = 1, [true] = 1, [2] = 1}, {}
         for key in pairs(t) do seen[#seen + 1] = tostring(key) end
         local list = {}
         for i = 1, 300 do list[i] = { n = i % 3, i = i } end
         table.sort(list, function(a, b) return a.n < b.n end)
         for i = 2, 300 do
           local a, b = list[i - 1], list[i]
           assert(a.n < b.n or (a.n == b.n and a.i < b.i))
         end
         return table.concat(seen, ' ') .. ' ' .. tostring({}) .. ' ' .. ('%s'):format(print or {})
           .. ' ' .. tostring(next({})) .. tostring(next({x = 1}))",
    );
    assert_eq!(told, "granted 1.5 2 3 a b true table table nilx");
}

#[test]
fn processes_share_no_globals() {
    let text = format!(
        "{RELEASE}count = 0\nfunction acquire()\ncount = count + 1\nreturn 'call ' .. count\nend"
    );
    let (world, mut lock) = build(&text);
    assert_eq!(granted(world.run(lock.acquire("lock"))).owner, "call 1");
    assert_eq!(granted(world.run(lock.acquire("lock"))).owner, "call 2");
    for _ in 0..2 {
        let (world, mut lock) = build(&text);
        assert_eq!(granted(world.run(lock.acquire("lock"))).owner, "call 1");
    }
}
