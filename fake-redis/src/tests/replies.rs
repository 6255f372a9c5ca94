//! Most expected replies are those of redis-server 7.0.15.

use crate::config::{NodeConfig, RedisVersion};
use crate::testing::{Bench, check, check_on};

#[test]
fn set_takes_its_options_in_any_order_and_refuses_contradictions() {
    check(&[
        ("SET k v", "+OK"),
        ("SET k v NX", "$-1"),
        ("SET k w XX", "+OK"),
        ("SET other v XX", "$-1"),
        ("SET k x GET", "$1|w"),
        ("SET none x GET XX", "$-1"),
        ("SET k v NX XX", "-ERR syntax error"),
        ("SET k v EX 10 PX 10", "-ERR syntax error"),
        ("SET k v EX", "-ERR syntax error"),
        ("SET k v EX 0", "-ERR invalid expire time in 'set' command"),
        ("SET k v EX ten", "-ERR value is not an integer or out of range"),
        ("SET k v PX 9223372036854775807", "-ERR invalid expire time in 'set' command"),
        ("SET k v px 5000 nx get", "$1|x"),
        ("HSET h f v", ":1"),
        ("SET h v GET", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("SET h v", "+OK"),
    ]);
}

#[test]
fn keepttl_keeps_and_plain_set_drops_the_time_to_live() {
    check(&[
        ("SET k v PX 5000", "+OK"),
        ("SET k w KEEPTTL", "+OK"),
        ("PTTL k", ":5000"),
        ("SET k x", "+OK"),
        ("PTTL k", ":-1"),
        ("PTTL nokey", ":-2"),
    ]);
}

#[test]
fn counters_overflow_with_an_error_and_keep_their_value() {
    check(&[
        ("INCR n", ":1"),
        ("INCRBY n 9223372036854775806", ":9223372036854775807"),
        ("INCR n", "-ERR increment or decrement would overflow"),
        ("GET n", "$19|9223372036854775807"),
        ("DECRBY n -9223372036854775808", "-ERR decrement would overflow"),
        ("SET s 01", "+OK"),
        ("INCR s", "-ERR value is not an integer or out of range"),
        ("SET f 3", "+OK"),
        ("INCRBYFLOAT f 0.1", "$3|3.1"),
        ("INCRBYFLOAT f nan", "-ERR value is not a valid float"),
        ("INCRBYFLOAT f 1e20", "-ERR fake-redis only adds numbers below 10^20"),
        ("INCRBYFLOAT f inf", "-ERR increment would produce NaN or Infinity"),
    ]);
}

#[test]
fn ranges_of_strings_are_clamped_and_padded() {
    check(&[
        ("SETRANGE s 3 abc", ":6"),
        ("GETRANGE s 3 -1", "$3|abc"),
        ("GETRANGE s -100 -4", "$3|\0\0\0"),
        ("GETRANGE s 5 2", "$0|"),
        ("APPEND s d", ":7"),
        ("STRLEN s", ":7"),
        ("SETRANGE s -1 a", "-ERR offset is out of range"),
        ("SETRANGE s 536870912 a", "-ERR string exceeds maximum allowed size (proto-max-bulk-len)"),
    ]);
}

#[test]
fn many_keys_are_set_all_or_none_by_msetnx() {
    check(&[
        ("MSET a 1 b 2", "+OK"),
        ("MSETNX b 3 c 4", ":0"),
        ("MGET a b c", "*3|$1|1|$1|2|$-1"),
        ("MSETNX c 4 d 5", ":1"),
        ("MSET a", "-ERR wrong number of arguments for 'mset' command"),
        ("GETDEL a", "$1|1"),
        ("EXISTS a b b", ":2"),
    ]);
}

#[test]
fn hashes_keep_their_order_and_vanish_when_empty() {
    check(&[
        ("HSET h b 1 a 2", ":2"),
        ("HSET h b 3 c 4", ":1"),
        ("HGETALL h", "*6|$1|b|$1|3|$1|a|$1|2|$1|c|$1|4"),
        ("HINCRBY h b 4", ":7"),
        ("HINCRBY h b x", "-ERR value is not an integer or out of range"),
        ("HINCRBYFLOAT h a 0.5", "$3|2.5"),
        ("HMGET h a x", "*2|$3|2.5|$-1"),
        ("HSETNX h a 9", ":0"),
        ("HDEL h a b c x", ":3"),
        ("EXISTS h", ":0"),
        ("SET s v", "+OK"),
        ("HGET s f", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ("HSET h f", "-ERR wrong number of arguments for 'hset' command"),
    ]);
}

#[test]
fn renaming_takes_the_time_to_live_along() {
    check(&[
        ("SET a v PX 9000", "+OK"),
        ("SET b w", "+OK"),
        ("RENAME a b", "+OK"),
        ("GET b", "$1|v"),
        ("PTTL b", ":9000"),
        ("RENAME a b", "-ERR no such key"),
        ("SET c x", "+OK"),
        ("RENAMENX b c", ":0"),
        ("RENAMENX b d", ":1"),
        ("TYPE d", "+string"),
    ]);
}

#[test]
fn a_walk_sees_every_key_that_stays_while_others_go() {
    let mut bench = Bench::new();
    for number in 0..100 {
        bench.run(&format!("SET key:{number} v"));
    }
    let (mut cursor, mut seen) = (String::from("0"), std::collections::BTreeSet::new());
    for round in 0..100 {
        let reply = bench.run(&format!("SCAN {cursor} COUNT 7"));
        let parts: Vec<&str> = reply.split('|').collect();
        cursor = parts[2].to_owned();
        seen.extend(
            parts.iter().filter(|part| part.starts_with("key:")).map(|key| (*key).to_owned()),
        );
        if cursor == "0" {
            break;
        }
        // Delete keys with odd numbers. The cursor has passed some of these keys.
        bench.run(&format!("DEL key:{}", (round * 2 + 1) % 100));
        bench.run(&format!("DEL key:{}", (99 - round * 2) % 100));
    }
    assert_eq!(cursor, "0", "the walk ends");
    let missed: Vec<_> =
        (0..100).step_by(2).filter(|number| !seen.contains(&format!("key:{number}"))).collect();
    assert!(missed.is_empty(), "missed {missed:?}");
}

#[test]
fn unknown_commands_are_answered_in_the_words_of_the_version() {
    let line = "FOO bar 'b z'";
    check(&[(line, "-ERR unknown command 'FOO', with args beginning with: 'bar' 'b z' ")]);
    let mut old = Bench::with(NodeConfig { version: RedisVersion::V6_2, ..NodeConfig::default() });
    check_on(
        &mut old,
        &[(line, "-ERR unknown command `FOO`, with args beginning with: `bar`, `b z`, ")],
    );
    check(&[
        ("CLIENT FOO", "-ERR unknown subcommand 'FOO'. Try CLIENT HELP."),
        ("CONFIG GET", "-ERR wrong number of arguments for 'config|get' command"),
        ("CLIENT SETINFO LIB-NAME x", "-ERR unknown subcommand 'SETINFO'. Try CLIENT HELP."),
    ]);
    let mut new = Bench::with(NodeConfig { version: RedisVersion::V7_2, ..NodeConfig::default() });
    check_on(&mut new, &[("CLIENT SETINFO LIB-NAME x", "+OK")]);
}

#[test]
fn hello_switches_protocols_and_reset_switches_back() {
    let mut bench = Bench::new();
    assert!(
        bench.run("HELLO 3").starts_with("%7|$6|server|$5|redis|$7|version|$6|7.0.15|$5|proto|:3")
    );
    check_on(
        &mut bench,
        &[
            ("GET nokey", "_"),
            ("HSET h f v", ":1"),
            ("HGETALL h", "%1|$1|f|$1|v"),
            ("RESET", "+RESET"),
            ("GET nokey", "$-1"),
            ("HELLO 4", "-NOPROTO unsupported protocol version"),
        ],
    );
}

#[test]
fn configuration_is_changed_all_or_nothing() {
    check(&[
        ("CONFIG SET maxmemory 1mb maxmemory-policy allkeys-lru", "+OK"),
        (
            "CONFIG GET maxmemory*",
            "*6|$9|maxmemory|$7|1048576|$16|maxmemory-policy|$11|allkeys-lru|\
             $17|maxmemory-samples|$1|5",
        ),
        (
            "CONFIG SET maxmemory 2mb timeout x",
            "-ERR CONFIG SET failed (possibly related to argument 'timeout') - argument couldn't \
             be parsed into an integer",
        ),
        ("CONFIG GET maxmemory", "*2|$9|maxmemory|$7|1048576"),
        (
            "CONFIG SET nosuch 1",
            "-ERR Unknown option or number of arguments for CONFIG SET - 'nosuch'",
        ),
    ]);
}

#[test]
fn silenced_replies_are_not_sent() {
    check(&[
        ("CLIENT REPLY SKIP", ""),
        ("PING one", ""),
        ("PING two", "$3|two"),
        ("CLIENT REPLY OFF", ""),
        ("SET k v", ""),
        ("CLIENT REPLY ON", "+OK"),
        ("GET k", "$1|v"),
    ]);
}

#[test]
fn clients_are_listed_and_killed() {
    let mut bench = Bench::new();
    bench.run("CLIENT SETNAME one");
    assert!(
        bench
            .run("CLIENT LIST")
            .contains("id=1 addr=127.0.0.1:50000 laddr=127.0.0.1:6379 fd=8 name=one age=0")
    );
    check_on(
        &mut bench,
        &[
            ("CLIENT KILL ID 2", ":1"),
            ("CLIENT KILL ID 2", ":0"),
            ("CLIENT KILL ID 1 SKIPME yes", ":0"),
        ],
    );
    assert_eq!(bench.closed.len(), 1);
    check_on(&mut bench, &[("CLIENT KILL ID 1 SKIPME no", ":1")]);
    assert_eq!(bench.closed.len(), 2, "a client that kills itself gets the reply first");
}
