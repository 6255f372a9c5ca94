use crate::config::{NodeConfig, RedisVersion};
use crate::testing::{Bench, START_MS, check_on};

fn at_version(version: RedisVersion) -> Bench {
    Bench::with(NodeConfig { version, ..NodeConfig::default() })
}

/// Redis 6.2 sends a relative time to replicas as relative, and an absolute time as absolute.
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

/// Client libraries parse these texts.
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

/// `getTimeoutFromObjectOrReply` (timeout.c) checks the addition from 7.2 on.
#[test]
fn before_7_2_an_enormous_pause_wraps_around() {
    let enormous = format!("CLIENT PAUSE {}", i64::MAX);
    check_on(&mut at_version(RedisVersion::V7_0), &[(&enormous, "+OK"), ("PING", "+PONG")]);
    let refused = [(enormous.as_str(), "-ERR timeout is out of range")];
    check_on(&mut at_version(RedisVersion::V7_2), &refused);
}

/// `getRangeLongFromObjectOrReply` (object.c) refuses the lowest rank from 7.2 on.
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
