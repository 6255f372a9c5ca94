mod isolation;
mod limits;

use crate::config::{NodeConfig, RedisVersion};
use crate::state::scripts::sha_of;
use crate::testing::{Bench, check, check_on};
use fencepost_machine::ConnectionId;
use std::panic::{AssertUnwindSafe, catch_unwind};

const RELEASE: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', \
 KEYS[1]) else return 0 end";

#[track_caller]
fn check_eval(script: &str, expected: &str) {
    assert_eq!(eval(&mut Bench::new(), script), expected, "{script}");
}

fn eval(bench: &mut Bench, script: &str) -> String {
    crate::testing::readable(&bench.words(0, &[b"EVAL", script.as_bytes(), b"0"]))
}

#[test]
fn compare_and_delete_deletes_only_what_is_ones_own() {
    let mut bench = Bench::new();
    bench.run("SET lock mine PX 10000");
    let load = bench.words(0, &[b"SCRIPT", b"LOAD", RELEASE.as_bytes()]);
    let sha = String::from_utf8(load[5..45].to_vec()).unwrap();
    check_on(
        &mut bench,
        &[
            (&format!("EVALSHA {sha} 1 lock other"), ":0"),
            (&format!("EVALSHA {} 1 lock mine", sha.to_uppercase()), ":1"),
            (&format!("EVALSHA {sha} 1 lock mine"), ":0"),
            (&format!("SCRIPT EXISTS {sha} {}", "0".repeat(40)), "*2|:1|:0"),
            ("SCRIPT FLUSH", "+OK"),
            (
                &format!("EVALSHA {sha} 1 lock mine"),
                "-NOSCRIPT No matching script. Please use EVAL.",
            ),
        ],
    );
}

#[test]
fn a_script_that_fails_keeps_what_it_did() {
    let mut bench = Bench::new();
    bench.run("SET s text");
    let reply = eval(
        &mut bench,
        "redis.call('SET', 'a', 1) redis.call('INCR', 's') redis.call('SET', 'b', 2)",
    );
    assert!(reply.starts_with("-ERR value is not an integer or out of range script: "), "{reply}");
    assert!(reply.ends_with(", on @user_script:1."), "{reply}");
    check_on(&mut bench, &[("MGET a b", "*2|$1|1|$-1")]);
    assert_eq!(bench.propagated(), "SET s text | SET a 1");
}

#[test]
fn values_are_converted_as_redis_does() {
    check_eval("return {1, 2.9, 'x', true, {3}, nil, 4}", "*5|:1|:2|$1|x|:1|*1|:3");
    check_eval("return false", "$-1");
    check_eval("return {ok = 'fine'}", "+fine");
    check_eval("return {err = 'MY problem'}", "-MY problem");
    check_eval("return {double = 0.1}", "$19|0.10000000000000001");
    check_eval("return redis.call('GET', 'nokey') == false", ":1");
    check_eval("return redis.call('SET', 'k', 'v').ok", "$2|OK");
    check_eval(
        "return redis.pcall('INCR').err",
        "$58|ERR Wrong number of args calling Redis command from script",
    );
    check_eval("return redis.call('ECHO', 0.1)", "$19|0.10000000000000001");
    check_eval("return redis.call('ECHO', 1e17)", "$5|1e+17");
}

#[test]
fn problems_are_told_in_the_words_of_redis() {
    let ends = |script: &str, start: &str| {
        let reply = eval(&mut Bench::new(), script);
        let sha = String::from_utf8(sha_of(script.as_bytes()).to_vec()).unwrap();
        assert_eq!(reply, format!("-{start} script: {sha}, on @user_script:1."));
    };
    ends(
        "return foo",
        "ERR user_script:1: Script attempted to access nonexistent global variable 'foo'",
    );
    ends("a = 1", "ERR user_script:1: Attempt to modify a readonly table");
    ends("return redis.call('NOSUCH')", "ERR Unknown Redis command called from script");
    ends("return redis.call('MULTI')", "ERR This Redis command is not allowed from script");
    ends("error('x')", "ERR user_script:1: x");
    ends("error({err = 'MY x'})", "MY x");
    ends("return redis.call()", "ERR Please specify at least one argument for this redis lib call");
    check_eval(
        "x",
        "-ERR Error compiling script (new function): user_script:1: '=' expected near '<eof>'",
    );
    check_eval("return pcall(redis.call, 'NOSUCH')", "$-1");
    check_eval(
        "local ok, e = pcall(redis.call, 'NOSUCH') return e",
        "$44|ERR Unknown Redis command called from script",
    );
}

#[test]
fn the_second_of_two_wrong_numbers_is_named_first() {
    for name in ["atan2", "fmod", "ldexp", "pow"] {
        check_eval(
            &format!("local ok, e = pcall(function() return math.{name}({{}}, {{}}) end) return e"),
            &{
                let text = format!(
                    "user_script:1: bad argument #2 to '{name}' (number expected, got table)"
                );
                format!("${}|{text}", text.len())
            },
        );
    }
}

#[test]
fn tables_are_traversed_in_the_order_of_redis() {
    check_eval(
        "local s = '' for k, v in pairs({a=1, b=2, c=3, d=4}) do s = s .. k .. v end return s",
        "$8|a1d4c3b2",
    );
    check_eval("local s = '' for k in pairs({1, 2, 3, x=1}) do s = s .. k end return s", "$4|123x");
    check_eval(
        "local t = {} for i = 1, 3 do t[{}] = i end for k, v in pairs(t) do t[k] = nil end return \
         next(t) == nil",
        ":1",
    );
    let ambiguous = eval(&mut Bench::new(), "for k in pairs({[{}] = 1, [{}] = 1}) do end");
    assert!(ambiguous.contains("does not know the order of keys"), "{ambiguous}");
}

#[test]
fn the_number_of_keys_is_checked() {
    check(&[
        ("EVAL \"return 1\" 1", "-ERR Number of keys can't be greater than number of args"),
        ("EVAL \"return 1\" -1", "-ERR Number of keys can't be negative"),
        ("EVAL \"return 1\" x", "-ERR value is not an integer or out of range"),
        ("EVAL \"return {KEYS[1], #KEYS, ARGV[1], #ARGV}\" 1 k a b", "*4|$1|k|:1|$1|a|:2"),
    ]);
}

#[test]
fn a_script_that_may_only_read_cannot_write() {
    let refused = "-ERR Write commands are not allowed from read-only scripts. script: ";
    let mut bench = Bench::new();
    assert!(bench.run("EVAL_RO \"return redis.call('SET', 'k', 'v')\" 0").starts_with(refused));
    assert!(
        eval(&mut bench, "#!lua flags=no-writes\nreturn redis.call('SET', 'k', 'v')")
            .starts_with(refused)
    );
    assert_eq!(
        eval(&mut bench, "#!lua flags=nonsense\nreturn 1"),
        "-ERR Unexpected flag in script shebang: nonsense"
    );
    check_on(&mut bench, &[("EXISTS k", ":0")]);
}

#[test]
fn a_script_without_an_end_is_stopped() {
    let mut bench = Bench::new();
    bench.run("SET k v");
    let reply = eval(&mut bench, "redis.call('SET', 'k', 'w') while true do end");
    assert!(reply.contains("stopped by fake-redis"), "{reply}");
    let reply = eval(&mut bench, "while true do pcall(function() while true do end end) end");
    assert!(reply.contains("stopped by fake-redis"), "{reply}");
    check_on(&mut bench, &[("GET k", "$1|w")]);
}

#[test]
fn a_new_server_on_the_same_thread_knows_no_scripts_and_draws_the_same_numbers() {
    let draw = "return {math.random(100), math.random(100), math.random(1000000)}";
    let mut first = Bench::new();
    assert_eq!(eval(&mut first, draw), "*3|:40|:85|:353337");
    assert_eq!(eval(&mut first, draw), "*3|:45|:32|:886429");
    let sha = String::from_utf8(sha_of(draw.as_bytes()).to_vec()).unwrap();
    let mut second = Bench::new();
    assert_eq!(
        second.run(&format!("EVALSHA {sha} 0")),
        "-NOSCRIPT No matching script. Please use EVAL."
    );
    assert_eq!(eval(&mut second, draw), "*3|:40|:85|:353337");
    let mut old = Bench::with(NodeConfig { version: RedisVersion::V6_2, ..NodeConfig::default() });
    assert_eq!(eval(&mut old, draw), eval(&mut old, draw), "before 7.0 each script begins anew");
    assert_eq!(eval(&mut old, "return redis.REDIS_VERSION"), "$-1");
    assert_eq!(eval(&mut second, "return redis.REDIS_VERSION"), "$6|7.0.15");
}

#[test]
fn keys_and_arguments_are_a_scripts_own_whatever_the_last_one_did_to_them() {
    const SHOW: &str = "local seen = {} for _, list in ipairs({KEYS, ARGV}) do \
                        for key, value in pairs(list) do seen[#seen + 1] = key .. '=' .. \
                        tostring(value) end \
                        seen[#seen + 1] = #list .. ' ' .. tostring(getmetatable(list)) end return \
                        table.concat(seen, ' ')";
    let mut bench = Bench::new();
    let mut run = |script: &str, parts: &[&str]| {
        let words: Vec<&[u8]> =
            ["EVAL", script].iter().chain(parts).map(|part| part.as_bytes()).collect();
        crate::testing::readable(&bench.words(0, &words))
    };
    let spoilers = [
        "return 1",
        "KEYS[1] = 'other'",
        "KEYS[1], ARGV[1] = nil, nil",
        "KEYS[2], ARGV[2], ARGV[3] = 'x', 'y', 'z'",
        "KEYS.leak, ARGV[0], ARGV[-1] = 1, 2, 3",
        "KEYS[1.5], KEYS[true] = 1, 2",
        "table.insert(KEYS, 1, 'x') table.remove(ARGV)",
        "setmetatable(KEYS, {__index = function() return 'x' end}) setmetatable(ARGV, {__newindex \
         = error})",
        "for i = 1, 100 do KEYS[i] = i end",
        "for i = 1, 100 do KEYS[i] = i end for i = 2, 100 do KEYS[i] = nil end",
        "KEYS[1] = KEYS KEYS.x, ARGV.x = ARGV, KEYS error('x')",
        "error(KEYS)",
        "assert(not ARGV, ARGV)",
        "return KEYS",
        "return coroutine.wrap(function() KEYS[1] = 'x' coroutine.yield(1) end)()",
    ];
    for spoiler in spoilers {
        run(spoiler, &["1", "k", "a"]);
        assert_eq!(run(SHOW, &["1", "k", "a"]), "$19|1=k 1 nil 1=a 1 nil", "{spoiler}");
        run(spoiler, &["2", "k", "l", "a", "b"]);
        assert_eq!(run(SHOW, &["0"]), "$11|0 nil 0 nil", "{spoiler}");
        run(spoiler, &["0", "a"]);
        assert_eq!(
            run(SHOW, &["2", "k", "l", "a", "b", "c"]),
            "$31|1=k 2=l 2 nil 1=a 2=b 3=c 3 nil",
            "{spoiler}"
        );
    }
    let many: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    let many: Vec<&str> = ["100"].into_iter().chain(many.iter().map(String::as_str)).collect();
    assert_eq!(
        run("return {#KEYS, #ARGV, KEYS[100], ARGV[200]}", &many),
        "*4|:100|:200|$2|99|$3|299"
    );
    assert_eq!(run(SHOW, &["1", "k"]), "$15|1=k 1 nil 0 nil");
}

/// Returns a server on which key commands panic, because its client uses a nonexistent database.
fn broken() -> Bench {
    let mut bench = Bench::new();
    let server = bench.node.server_mut();
    let key = server.roster.client_of(ConnectionId(0)).unwrap();
    server.client_mut(key).db = 99;
    bench
}

#[test]
fn a_panic_in_a_command_gets_through_lua_and_no_script_can_catch_it() {
    for script in [
        "redis.call('GET', 'k')",
        "pcall(redis.call, 'GET', 'k') return 'caught'",
        "pcall(function() return redis.call('GET', 'k') end) return 'caught'",
        "coroutine.wrap(function() redis.call('GET', 'k') end)() return 'caught'",
        "redis.pcall('GET', 'k') return 'caught'",
        "xpcall(function() redis.pcall('GET', 'k') end, function() end) return 'caught'",
    ] {
        let mut bench = broken();
        let ended = catch_unwind(AssertUnwindSafe(|| eval(&mut bench, script)));
        assert!(ended.is_err(), "{script}: {ended:?}");
        assert_eq!(
            eval(&mut Bench::new(), "return redis.call('INCR', 'n')"),
            ":1",
            "the next script runs"
        );
    }
}
