use crate::fakes::Fakes;
use crate::real::{Client, RealRedis, encode};
use fake_redis::serve::ServeOptions;

/// Commands. `\0`, `\t`, `\r`, `\n` and `\_` stand for a NUL byte, a tab, line ends and a space.
const LINES: &[&str] = &[
    "FLUSHALL",
    "ZADD k -1e400 c",
    "ZADD k 1e400 c",
    "ZADD k 1e-400 c",
    "ZADD k 0e-400 zero",
    "ZADD k -0.000e5 zero",
    "ZADD k infinity inf",
    "ZADD k 0x1p-2000 tiny",
    "ZADD k \\_5 e",
    "ZADD k 5\\0 e",
    "ZRANGE k 0 -1 WITHSCORES",
    "DEL k",
    "ZADD k 0 a 1 b 2 c",
    "ZADD k CH -0 a",
    "ZSCORE k a",
    "ZRANGE k 0 0 WITHSCORES",
    "ZCOUNT k 0 \\_1",
    "ZCOUNT k 0 1\\_",
    "ZCOUNT k 0 1\\0",
    "ZCOUNT k 0 1\\0x",
    "ZCOUNT k \\0 2",
    "ZCOUNT k 0 \\_",
    "ZCOUNT k ( (2",
    "ZCOUNT k (\\_0 2",
    "ZCOUNT k (\\0 2",
    "ZCOUNT k -1e400 1e400",
    "ZCOUNT k 1e-400 2",
    "ZCOUNT k 0 nan",
    "ZRANGEBYSCORE k \\_1 +inf",
    "ZREMRANGEBYSCORE k \\t1 1",
    "ZINCRBY k INCR b",
    "ZINCRBY k NX b",
    "ZINCRBY k x b",
    "ZINCRBY k 1 b",
    "SCAN -0",
    "SCAN +0",
    "SCAN 0\\0",
    "SCAN \\0",
    "SCAN -",
    "SCAN 0x0",
    "SCAN \\_0",
    "SCAN 18446744073709551616",
    "RPUSH p a b",
    "LPOS p a RANK -9223372036854775808",
    "HSET h f v",
    "HSCAN h \\0",
    "HSCAN h x",
    "ZADD z 1 a",
    "ZSCAN z -0",
    "ZSCAN z 00",
    "ZSCAN z 0\\_",
    "SSCAN s -1",
    // Error texts end at a NUL byte, and their line breaks become spaces.
    "NOSUCH\\r\\nCMD a\\0b",
    "NOSUCH a\\r\\nb\\0c",
    "NOSUCH\\0",
    "CONFIG x\\r\\ny",
    "OBJECT a\\0b",
    "CONFIG SET a\\r\\nb c",
    "CONFIG SET maxmemory\\0 c",
    "CONFIG SET no\\0such c",
    "HELLO 3 x\\r\\n",
    "EVAL return\\_redis.error_reply('a\\0b') 0",
    "EVAL return\\_redis.error_reply('a\\r\\nb') 0",
    "CONFIG SET client-query-buffer-limit 1",
    "CONFIG SET client-query-buffer-limit 1048575",
    "CONFIG SET client-query-buffer-limit -1",
    "CONFIG SET client-query-buffer-limit 1048576",
    "CONFIG SET proto-max-bulk-len 1",
    "CONFIG SET proto-max-bulk-len 1mb",
    "CONFIG SET maxclients 0",
    "CONFIG SET maxclients 4294967296",
    "CONFIG SET maxclients x",
    "CONFIG SET repl-timeout 0",
    "CONFIG SET repl-timeout 2147483648",
    "CONFIG SET repl-timeout 1",
    "CONFIG SET repl-ping-replica-period 0",
    "CONFIG SET repl-backlog-size 0",
    "CONFIG SET replica-priority -1",
    "CONFIG SET timeout -1",
    "CONFIG SET min-replicas-to-write -1",
    "CONFIG SET busy-reply-threshold -1",
    "CONFIG SET maxmemory -1",
    "CONFIG SET dir /tmp",
    "CONFIG SET dbfilename x.rdb",
    "CONFIG SET maxmemory 0 dir /tmp",
    "CLIENT PAUSE 9223372036854775807",
    "PING",
    "CLIENT PAUSE 9223372036854775808",
    "CLIENT PAUSE -1",
    "CLIENT PAUSE x",
    "CLIENT UNPAUSE",
    "PING",
    "BLMOVE none l LEFT LEFT 0.001",
    "BRPOPLPUSH none l 0.001",
    "CONFIG SET replica-serve-stale-data no",
    "REPLICAOF 127.0.0.1 1",
    "EVAL return\\_1 0",
    "EVAL return\\_redis.call('PUBLISH','c','x') 0",
    "EVAL return\\_redis.call('GET','k') 0",
    "EVAL nonsense 0",
    "EVAL #!lua\\nreturn\\_1 0",
    "EVAL #!lua\\_flags=no-writes\\nreturn\\_1 0",
    "EVAL #!lua\\_flags=allow-stale\\nreturn\\_1 0",
    "EVAL #!lua\\_flags=no-writes,allow-stale\\nreturn\\_1 0",
    "EVAL #!lua\\_flags=no-writes,allow-stale\\nreturn\\_redis.call('GET','k') 0",
    "EVAL_RO #!lua\\_flags=allow-stale\\nreturn\\_1 0",
    "EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0",
    "SCRIPT LOAD return\\_1",
    "SCRIPT EXISTS x",
    "SCRIPT FLUSH",
    "SCRIPT KILL",
    "MULTI",
    "EVAL return\\_1 0",
    "EXEC",
    "MULTI",
    "EVAL #!lua\\nreturn\\_1 0",
    "EXEC",
    "CONFIG SET replica-serve-stale-data yes",
    "MULTI",
    "CONFIG SET replica-serve-stale-data no",
    "EVAL #!lua\\_flags=no-writes\\nreturn\\_1 0",
    "EXEC",
    "REPLICAOF NO ONE",
    "CONFIG SET replica-serve-stale-data yes",
    "CONFIG SET maxmemory 1",
    "SET k v",
    "EVAL #!lua\\nreturn\\_1 0",
    "EVAL #!lua\\_flags=no-writes\\nreturn\\_1 0",
    "EVAL #!lua\\_flags=allow-oom\\nreturn\\_1 0",
    "CONFIG SET maxmemory 0",
];

const EMPTY_ARGUMENTS: &[&[&str]] = &[
    &["FLUSHALL"],
    &["SCAN", ""],
    &["HSET", "h", "f", "v"],
    &["SCAN", ""],
    &["HSCAN", "h", ""],
    &["ZADD", "z", "1", "a"],
    &["ZCOUNT", "z", "", "1"],
    &["ZCOUNT", "z", "0", ""],
];

fn words(line: &str) -> Vec<String> {
    let unescaped = |word: &str| {
        let pairs = [("\\0", "\0"), ("\\t", "\t"), ("\\r", "\r"), ("\\n", "\n"), ("\\_", " ")];
        pairs.iter().fold(word.to_owned(), |word, (from, to)| word.replace(from, to))
    };
    line.split(' ').map(unescaped).collect()
}

#[test]
fn odd_arguments_are_answered_as_by_a_real_redis() {
    let Some(real) = RealRedis::start(&[]) else { return };
    let fakes = Fakes::start(ServeOptions::default());
    let (mut one, mut other) = (real.connect(), fakes.client(0));
    let empty = EMPTY_ARGUMENTS.iter().map(|words| words.iter().map(|&word| word.into()).collect());
    for words in LINES.iter().map(|line| words(line)).chain(empty) {
        let request = encode(&words);
        let ask = |client: &mut Client| {
            client.write(&request);
            String::from_utf8_lossy(&client.read()).into_owned()
        };
        let (expected, answered) = (ask(&mut one), ask(&mut other));
        assert_eq!(answered, expected, "{words:?}");
    }
}

#[test]
fn a_browsers_request_is_cut_off_with_what_came_before_it() {
    let Some(real) = RealRedis::start(&[]) else { return };
    let fakes = Fakes::start(ServeOptions::default());
    let requests: [&[u8]; 6] = [
        b"POST / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"PING\r\nHost: x\r\nPING\r\n",
        b"PING\r\nhost:\r\n",
        b"*1\r\n$4\r\nPING\r\n*1\r\n$4\r\npOsT\r\nPING\r\n",
        b"GET /\r\nHost: x\r\n\r\n",
        b"MULTI\r\nPOST\r\n",
    ];
    for request in requests {
        let ask = |mut client: Client| {
            client.write(request);
            client.read()
        };
        let said = String::from_utf8_lossy(request);
        assert_eq!(ask(real.connect()), b"", "a real server cuts it off: {said}");
        assert_eq!(ask(fakes.client(0)), b"", "{said}");
    }
    assert_eq!(fakes.client(0).ask(&["PING"]), b"+PONG\r\n", "the server is still there");
}

#[test]
fn a_large_sorted_set_has_the_ranks_of_a_real_one() {
    let Some(real) = RealRedis::start(&[]) else { return };
    let fakes = Fakes::start(ServeOptions::default());
    let (mut one, mut other) = (real.connect(), fakes.client(0));
    for index in 0..20_000_u32 {
        let score = index.wrapping_mul(2_654_435_761) % 5_000;
        let request = encode(&["ZADD", "z", &score.to_string(), &format!("m{index}")]);
        one.write(&request);
        other.write(&request);
    }
    for _ in 0..20_000 {
        assert_eq!(one.read(), other.read());
    }
    for index in (0..20_000).step_by(97) {
        let (member, rank) = (format!("m{index}"), index.to_string());
        let asked: [&[&str]; 5] = [
            &["ZRANK", "z", &member],
            &["ZREVRANK", "z", &member],
            &["ZRANGE", "z", &rank, &rank, "WITHSCORES"],
            &["ZCOUNT", "z", "(17", &rank],
            &["ZREM", "z", &member],
        ];
        for words in asked {
            assert_eq!(other.ask(words), one.ask(words), "{words:?}");
        }
    }
    for words in [["ZREMRANGEBYRANK", "z", "100", "9000"], ["ZRANGE", "z", "0", "-1"]] {
        assert_eq!(other.ask(&words), one.ask(&words), "{words:?}");
    }
}
