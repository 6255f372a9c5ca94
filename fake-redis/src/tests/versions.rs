use crate::config::{NodeConfig, RedisVersion};
use crate::testing::{Bench, START_MS, check_on, readable};

fn at_version(version: RedisVersion) -> Bench {
    Bench::with(NodeConfig { version, ..NodeConfig::default() })
}

/// These are the replies of Redis 6.2.14.
#[test]
fn before_7_0_its_features_are_missing() {
    let unknown = |name: &str| format!("-ERR unknown command `{name}`, with args beginning with: ");
    let unknown_form = |container: &str, name: &str| {
        format!(
            "-ERR Unknown subcommand or wrong number of arguments for '{name}'. Try {container} \
             HELP."
        )
    };
    let mut bench = at_version(RedisVersion::V6_2);
    for line in [
        "EXPIRETIME k", "PEXPIRETIME k", "EVAL_RO \"return 1\" 0", "EVALSHA_RO x 0",
        "SPUBLISH c x", "SSUBSCRIBE c", "SUNSUBSCRIBE", "FUNCTION LIST",
    ] {
        let name = line.split(' ').next().unwrap();
        let said = bench.run(line);
        assert!(said.starts_with(&unknown(name)), "{line}: {said}");
        assert_eq!(bench.run(&format!("COMMAND INFO {name}")), "*1|$-1");
    }
    for line in [
        "PUBSUB SHARDCHANNELS", "PUBSUB SHARDNUMSUB c", "CLIENT NO-EVICT on", "COMMAND DOCS",
        "CLIENT NOSUCH", "CLIENT ID x", "PUBSUB CHANNELS a b",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(bench.run(line), unknown_form(words[0], words[1]));
    }
    check_on(
        &mut bench,
        &[
            ("SET k v NX GET", "-ERR syntax error"),
            ("SET k v GET NX", "-ERR syntax error"),
            ("SET k v XX GET", "$-1"),
            ("XADD x 5-* f v", "-ERR Invalid stream ID specified as stream command argument"),
            ("MULTI", "+OK"),
            ("PEXPIRE z 1 XX", "-ERR wrong number of arguments for 'pexpire' command"),
            ("EXEC", "-EXECABORT Transaction discarded because of previous errors."),
            (
                "EVAL \"return {redis.REDIS_VERSION, redis.REDIS_VERSION_NUM, \
                 redis.acl_check_cmd}\" 0",
                "*0",
            ),
            (
                "COMMAND INFO expire script script|load",
                "*3|*7|$6|expire|:3|*2|+write|+fast|:1|:1|:1|*0|*7|$6|script|:-2|*0|:0|:0|:0|*0|$-1",
            ),
        ],
    );
    let script: &[&[u8]] = &[b"EVAL", b"#!lua\nreturn 1", b"0"];
    assert_eq!(
        readable(&bench.words(0, script)),
        "-ERR Error compiling script (new function): user_script:1: unexpected symbol near '#'"
    );
    let told = bench.run("COMMAND");
    assert!(told.contains("$3|get|") && !told.contains("$8|spublish|"));
}

#[test]
fn before_7_2_hello_omits_the_protocol_in_its_advice() {
    for (version, advice) in [(RedisVersion::V7_0, ""), (RedisVersion::V7_2, "<proto> ")] {
        let requirepass = Some(bytes::Bytes::from_static(b"secret"));
        let mut bench = Bench::with(NodeConfig { version, requirepass, ..NodeConfig::default() });
        let said = bench.run("HELLO 3");
        assert!(
            said.contains(&format!("otherwise the HELLO {advice}AUTH <user> <pass>")),
            "{said}"
        );
    }
}

/// Redis 7.2.4 uses `fpconv_dtoa`; later releases special-case whole numbers (redis/redis#13115).
#[test]
fn from_7_2_on_scripts_pass_the_shortest_text_of_a_number() {
    let numbers = [
        ("1.1", ["1.1000000000000001", "1.1", "1.1"]),
        ("1/3", ["0.33333333333333331", "0.3333333333333333", "0.3333333333333333"]),
        ("0.00001", ["1.0000000000000001e-05", "0.00001", "0.00001"]),
        ("1e-7", ["9.9999999999999995e-08", "1e-7", "1e-7"]),
        ("-1.5e-7", ["-1.4999999999999999e-07", "-1.5e-7", "-1.5e-7"]),
        ("5e-324", ["4.9406564584124654e-324", "5e-324", "5e-324"]),
        ("30000", ["30000", "30000", "30000"]),
        ("100000000", ["100000000", "1e+8", "100000000"]),
        ("1e17", ["1e+17", "1e+17", "100000000000000000"]),
        ("2^62", ["4.6116860184273879e+18", "4611686018427388000", "4611686018427387904"]),
        ("-2^63", ["-9.2233720368547758e+18", "-9223372036854776000", "-9223372036854776000"]),
        ("9e18", ["9e+18", "9e+18", "9e+18"]),
        ("1/0", ["inf", "inf", "inf"]),
        ("-0.0", ["-0", "-0", "0"]),
    ];
    let versions = [RedisVersion::V7_0, RedisVersion::V7_2, RedisVersion::V8_4];
    for (index, version) in versions.into_iter().enumerate() {
        let mut bench = at_version(version);
        for (number, texts) in numbers {
            let said = bench.run(&format!("EVAL \"return redis.call('ECHO', {number})\" 0"));
            assert_eq!(said, format!("${}|{}", texts[index].len(), texts[index]), "{number}");
        }
    }
}

/// Scripts may call blocking commands (redis/redis#11568), and later WAITAOF (redis/redis#12977).
#[test]
fn from_7_2_on_scripts_may_call_blocking_commands_that_do_not_block() {
    let versions = [RedisVersion::V7_0, RedisVersion::V7_2, RedisVersion::V8_4];
    for (command, since) in [
        ("'BLPOP', 'l', 0", 1),
        ("'BRPOP', 'l', 0", 1),
        ("'BRPOPLPUSH', 'l', 'm', 0", 1),
        ("'BLMOVE', 'l', 'm', 'LEFT', 'LEFT', 0", 1),
        ("'BZPOPMIN', 'l', 0", 1),
        ("'BZPOPMAX', 'l', 0", 1),
        ("'BLMPOP', 0, 1, 'l', 'LEFT'", 0),
        ("'BZMPOP', 0, 1, 'l', 'MIN'", 0),
        ("'WAIT', 1, 0", 1),
        ("'WAITAOF', 0, 1, 0", 2),
    ] {
        for (index, version) in versions.into_iter().enumerate() {
            let script = format!("EVAL \"return redis.pcall({command})\" 0");
            let said = at_version(version).run(&script);
            let wanted = match command {
                _ if index < since => "-ERR",
                "'WAIT', 1, 0" => ":0",
                "'WAITAOF', 0, 1, 0" => "*2|:0|:0",
                _ => "$-1",
            };
            assert!(said.starts_with(wanted), "{version:?} {command}: {said}");
        }
    }
}

/// Redis 6.2 sends relative times to replicas as relative, and absolute times as absolute.
#[test]
fn before_7_0_replicas_are_told_spans() {
    let mut bench = at_version(RedisVersion::V6_2);
    for line in [
        "SET k v NX PX 5000",
        "SETEX k 5 v",
        "EXPIRE k 7",
        "GETEX k EX 6",
        "EVAL \"redis.call('SET', 'k', 'v', 'PX', 5000) redis.call('INCR', 'n')\" 0",
    ] {
        bench.run(line);
    }
    assert_eq!(
        bench.propagated(),
        "SET k v PX 5000 | SET k v PX 5000 | PEXPIRE k 7000 | PEXPIRE k 6000 | MULTI | SET k v PX \
         5000 | INCR n | EXEC"
    );
    let at = START_MS + 5_000;
    bench.run(&format!("SET PXAT PXAT PXAT {at}"));
    bench.run(&format!("PEXPIREAT PXAT {}", at + 1));
    assert_eq!(bench.propagated(), format!("SET PXAT PXAT PXAT {at} | PEXPIREAT PXAT {}", at + 1));
}

/// Redis 6.2 propagates SCRIPT LOAD to replicas, but not the scripts of EVAL (scripting.c).
#[test]
fn before_7_0_replicas_are_told_of_loaded_scripts() {
    for (version, told) in
        [(RedisVersion::V6_2, "SCRIPT LOAD return 1 | SCRIPT FLUSH"), (RedisVersion::V7_0, "")]
    {
        let mut bench = at_version(version);
        bench.run("SCRIPT LOAD \"return 1\"");
        bench.run("EVAL \"return 2\" 0");
        bench.run("SCRIPT FLUSH");
        assert_eq!(bench.propagated(), told);
    }
}

/// Client libraries parse these error texts.
#[test]
fn before_7_0_errors_read_differently() {
    let mut bench = at_version(RedisVersion::V6_2);
    check_on(
        &mut bench,
        &[
            ("SET k v PX 0", "-ERR invalid expire time in set"),
            ("EXPIRE k 5 NX", "-ERR wrong number of arguments for 'expire' command"),
            ("NOSUCH a", "-ERR unknown command `NOSUCH`, with args beginning with: `a`, "),
            ("SET s text", "+OK"),
            (
                "LMPOP 1 l LEFT",
                "-ERR unknown command `LMPOP`, with args beginning with: `1`, `l`, `LEFT`, ",
            ),
        ],
    );
    let problem = bench.run("EVAL \"return redis.call('INCR', 's')\" 0");
    assert!(problem.starts_with("-ERR Error running script (call to f_"), "{problem}");
    assert!(
        problem.ends_with("): @user_script:1: ERR value is not an integer or out of range"),
        "{problem}"
    );
    let problem = bench.run("EVAL \"return nosuch\" 0");
    let end = "): @user_script:1: user_script:1: Script attempted to access nonexistent global \
     variable 'nosuch'";
    assert!(problem.ends_with(end), "{problem}");
}

#[test]
fn from_8_4_on_set_and_delex_compare() {
    let mut bench = at_version(RedisVersion::V8_4);
    check_on(
        &mut bench,
        &[
            ("SET k v IFEQ x", "$-1"),
            ("EXISTS k", ":0"),
            ("SET k v1 IFNE x", "+OK"),
            ("SET k v2 IFNE v1", "$-1"),
            ("SET k v2 IFEQ v1 PX 5000", "+OK"),
            ("PTTL k", ":5000"),
            ("SET k v3 IFEQ v1 GET", "$2|v2"),
            ("SET k v2 IFEQ v2 KEEPTTL", "+OK"),
            ("PTTL k", ":5000"),
            ("SET k v IFEQ v NX", "-ERR syntax error"),
            ("SET k v NX IFEQ v", "-ERR syntax error"),
            ("SET k v IFEQ", "-ERR syntax error"),
            ("DELEX k IFEQ other", ":0"),
            ("DELEX k IFNE v2", ":0"),
            ("DELEX k IFEQ v2", ":1"),
            ("DELEX k IFEQ v2", ":0"),
            ("LPUSH l x", ":1"),
            (
                "SET l v IFEQ x",
                "-WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
            ("DELEX l IFEQ x", "-ERR Key should be of string type if conditions are specified"),
            ("DELEX l IFEQ", "-ERR wrong number of arguments for 'delex' command"),
            ("DELEX l", ":1"),
            ("SET k v", "+OK"),
            ("DELEX k FOO v", "-ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"),
        ],
    );
    let at = START_MS + 5_000;
    assert_eq!(
        bench.propagated(),
        format!(
            "SET k v1 | SET k v2 PXAT {at} | SET k v2 KEEPTTL | DEL k | LPUSH l x | DEL l | SET k v"
        )
    );
}

/// From 7.2 on, `getTimeoutFromObjectOrReply` (timeout.c) checks the addition for overflow.
#[test]
fn before_7_2_an_enormous_pause_wraps_around() {
    let enormous = format!("CLIENT PAUSE {}", i64::MAX);
    check_on(&mut at_version(RedisVersion::V7_0), &[(&enormous, "+OK"), ("PING", "+PONG")]);
    let refused = [(enormous.as_str(), "-ERR timeout is out of range")];
    check_on(&mut at_version(RedisVersion::V7_2), &refused);
}

/// From 7.2 on, `getRangeLongFromObjectOrReply` (object.c) refuses the lowest rank.
#[test]
fn before_7_2_the_lowest_rank_finds_the_first_match() {
    let lowest = format!("LPOS l a RANK {}", i64::MIN);
    let range = format!("value must between {} and {}", -i64::MAX, i64::MAX);
    let refused = format!("-ERR value is out of range, {range}");
    for (version, said) in [(RedisVersion::V7_0, ":2"), (RedisVersion::V7_2, &refused)] {
        check_on(&mut at_version(version), &[("RPUSH l a b a", ":3"), (&lowest, said)]);
    }
}

#[test]
fn before_8_4_nothing_compares() {
    let mut bench = at_version(RedisVersion::V7_2);
    check_on(
        &mut bench,
        &[
            ("SET k v IFEQ x", "-ERR syntax error"),
            ("DELEX k", "-ERR unknown command 'DELEX', with args beginning with: 'k' "),
        ],
    );
}
