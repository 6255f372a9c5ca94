//! Random command sequences against a real redis-server and against fake-redis: the replies must be equal byte for byte.
//!
//! `FENCEPOST_DIFFERENTIAL_CASES` is the number of sequences. What is compared with more lenience is in `same`, and listed in docs/fidelity.md.

use crate::real::{RealRedis, encode};
use fake_redis::{ConnectionId, DiskImage, Input, Machine, Node, NodeConfig, Output, Outputs, WallTime};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::time::{SystemTime, UNIX_EPOCH};

/// How many sequences are tried, of about 40 commands each.
const CASES: u32 = 5_000;

/// Words of commands; a word in braces stands for one of the alternatives of `alternatives`.
const TEMPLATES: &[&str] = &[
    "SET {s} {v}",
    "SET {s} {v} {setopt} {setopt}",
    "SET {s} {v} {expopt} {span}",
    "SET {s} {v} {setopt} {expopt} {span} {setopt}",
    "SET {s} {v} PXAT {instant}",
    "SET {s} {v} EXAT {instant}",
    "GET {s}",
    "GETDEL {s}",
    "GETSET {s} {v}",
    "GETEX {s}",
    "GETEX {s} PXAT {instant}",
    "GETEX {s} PERSIST",
    "SETNX {s} {v}",
    "SETEX {s} {span} {v}",
    "PSETEX {s} {span} {v}",
    "MGET {s} {any} {s}",
    "MSET {s} {v} {any} {v}",
    "MSETNX {s} {v} {any} {v}",
    "APPEND {s} {v}",
    "GETRANGE {s} {index} {index}",
    "SUBSTR {s} {index} {index}",
    "SETRANGE {s} {offset} {v}",
    "STRLEN {s}",
    "INCR {s}",
    "DECR {s}",
    "INCRBY {s} {int}",
    "DECRBY {s} {int}",
    "INCRBYFLOAT {s} {float}",
    "DEL {any}",
    "DEL {any} {any}",
    "UNLINK {any}",
    "EXISTS {any} {any}",
    "TOUCH {any} {any}",
    "TYPE {any}",
    "KEYS *",
    "KEYS {pattern}",
    "DBSIZE",
    "RENAME {any} {any}",
    "RENAMENX {any} {any}",
    "COPY {any} {any}",
    "COPY {any} {any} REPLACE",
    "MOVE {any} {int}",
    "OBJECT ENCODING {any}",
    "OBJECT REFCOUNT {h}",
    "RANDOMKEY2",
    "EXPIRE {any} {span}",
    "EXPIRE {any} {span} {expflag}",
    "PEXPIREAT {any} {instant}",
    "PEXPIREAT {any} {instant} {expflag}",
    "EXPIREAT {any} {instant} {expflag} {expflag}",
    "EXPIRETIME {any}",
    "PEXPIRETIME {any}",
    "TTL {any}",
    "PTTL {any}",
    "PERSIST {any}",
    "SCAN 0 COUNT 1000",
    "SCAN 0 MATCH {pattern} COUNT 1000",
    "SCAN 0 TYPE {type} COUNT 1000",
    "SCAN x",
    "HSET {h} {f} {v}",
    "HSET {h} {f} {v} {f} {v}",
    "HMSET {h} {f} {v}",
    "HSETNX {h} {f} {v}",
    "HGET {h} {f}",
    "HMGET {h} {f} {f}",
    "HDEL {h} {f}",
    "HDEL {h} {f} {f}",
    "HLEN {h}",
    "HSTRLEN {h} {f}",
    "HEXISTS {h} {f}",
    "HINCRBY {h} {f} {int}",
    "HINCRBYFLOAT {h} {f} {float}",
    "HKEYS {h}",
    "HVALS {h}",
    "HGETALL {h}",
    "HSCAN {h} 0",
    "HSCAN {h} 0 MATCH {pattern}",
    "HRANDFIELD {h} 1000",
    "HRANDFIELD {h} 1000 WITHVALUES",
    "HRANDFIELD {h} 0",
    "LPUSH {l} {v}",
    "RPUSH {l} {v} {v}",
    "LPUSH {l} {v} {v} {v}",
    "LPUSHX {l} {v}",
    "RPUSHX {l} {v}",
    "LPOP {l}",
    "RPOP {l}",
    "LPOP {l} {int}",
    "RPOP {l} {int}",
    "LLEN {l}",
    "LINDEX {l} {index}",
    "LRANGE {l} {index} {index}",
    "LRANGE {l} 0 -1",
    "LSET {l} {index} {v}",
    "LTRIM {l} {index} {index}",
    "LREM {l} {index} {v}",
    "LINSERT {l} {where} {v} {v}",
    "LPOS {l} {v}",
    "LPOS {l} {v} {lposopt} {index}",
    "LPOS {l} {v} {lposopt} {index} {lposopt} {index}",
    "RPOPLPUSH {l} {l}",
    "LMOVE {l} {l} {end} {end}",
    "LMPOP {int} {l} {end}",
    "LMPOP 2 {l} {l} {end} COUNT {int}",
    "RPOPLPUSH {any} {any}",
    "SADD {t} {v}",
    "SADD {t} {v} {v}",
    "SREM {t} {v}",
    "SREM {t} {v} {v}",
    "SMEMBERS {t}",
    "SISMEMBER {t} {v}",
    "SMISMEMBER {t} {v} {v}",
    "SCARD {t}",
    "SPOP {t} 1000",
    "SPOP {t} 0",
    "SPOP missing",
    "SPOP {t} -1",
    "SPOP {t} 1 2",
    "ZADD {z} {score} {m}",
    "ZADD {z} {score} {m} {score} {m}",
    "ZADD {z} {zopt} {score} {m}",
    "ZADD {z} {zopt} {zopt} {score} {m}",
    "ZADD {z} {zopt} {zopt} {zopt} {score} {m} {score} {m}",
    "ZINCRBY {z} {score} {m}",
    "ZREM {z} {m}",
    "ZREM {z} {m} {m}",
    "ZSCORE {z} {m}",
    "ZMSCORE {z} {m} {m}",
    "ZCARD {z}",
    "ZRANK {z} {m}",
    "ZREVRANK {z} {m}",
    "ZCOUNT {z} {sb} {sb}",
    "ZLEXCOUNT {y} {lb} {lb}",
    "ZRANGE {z} {index} {index}",
    "ZRANGE {z} 0 -1 WITHSCORES",
    "ZRANGE {z} {index} {index} {zropt}",
    "ZRANGE {z} {sb} {sb} BYSCORE {zropt}",
    "ZRANGE {z} {sb} {sb} BYSCORE REV LIMIT {index} {index}",
    "ZRANGE {y} {lb} {lb} BYLEX {zropt}",
    "ZRANGE {y} {lb} {lb} BYLEX LIMIT {index} {index}",
    "ZRANGESTORE {y} {y} {lb} {lb} BYLEX",
    "ZADD {y} 0 {m} 0 {m}",
    "ZADD {y} 0 {m} 0 {m} 0 {m}",
    "ZADD {y} {zopt} 0 {m}",
    "ZREM {y} {m}",
    "ZRANGE {y} 0 -1",
    "ZRANGE {z} {index} {index} LIMIT {index} {index}",
    "ZREVRANGE {z} {index} {index} WITHSCORES",
    "ZRANGEBYSCORE {z} {sb} {sb}",
    "ZRANGEBYSCORE {z} {sb} {sb} WITHSCORES LIMIT {index} {index}",
    "ZREVRANGEBYSCORE {z} {sb} {sb}",
    "ZRANGEBYLEX {y} {lb} {lb}",
    "ZREVRANGEBYLEX {y} {lb} {lb} LIMIT {index} {index}",
    "ZREMRANGEBYSCORE {z} {sb} {sb}",
    "ZREMRANGEBYRANK {z} {index} {index}",
    "ZREMRANGEBYLEX {y} {lb} {lb}",
    "ZPOPMIN {z}",
    "ZPOPMAX {z}",
    "ZPOPMIN {z} {int}",
    "ZPOPMAX {z} {int}",
    "ZRANGESTORE {any} {z} {index} {index}",
    "ZRANGESTORE {z} {z} {sb} {sb} BYSCORE",
    "MULTI",
    "MULTI",
    "EXEC",
    "EXEC",
    "EXEC",
    "DISCARD",
    "WATCH {any}",
    "WATCH {any} {any}",
    "EVAL {script} 1 {l} {v}",
    "EVAL {script} 1 {s} {v} {v}",
    "UNWATCH",
    "EVAL {script} 1 {any} {v}",
    "EVAL {script} 0 {v} {v}",
    "EVAL {script} {int} {any} {v}",
    "EVAL_RO {script} 1 {any} {v}",
    "EVALSHA {v} 0",
    "SCRIPT EXISTS {v} {v}",
    "ECHO {v}",
    "PING",
    "PING {v}",
    "SELECT {int}",
    "SWAPDB {int} {int}",
    "CLIENT SETNAME {v}",
    "CLIENT GETNAME",
    "CLIENT REPLY {v}",
    "CLIENT NO-EVICT {v}",
    "CLIENT UNBLOCK {int} {v}",
    "CLIENT KILL {v}",
    "OBJECT {v} {any}",
    "CONFIG {v}",
    "CONFIG GET maxmemory-policy",
    "NOSUCH {v} {v}",
    "PUBLISH {v} {v}",
    "PUBSUB NUMSUB {v}",
    "PUBSUB CHANNELS",
    "PUBSUB NUMPAT",
    "COMMAND COUNT {v}",
    "WAIT 0 100",
    "BLPOP {l} {v}",
    "BLMOVE {l} {l} {end} {v} 1",
];

fn alternatives(kind: &str) -> &'static [&'static str] {
    match kind {
        "s" => &["s1", "s1", "s2", "s2", "s3", "h1"],
        "h" => &["h1", "h1", "h1", "h2", "h2", "s1"],
        "l" => &["l1", "l1", "l1", "l2", "l2", "z1"],
        "t" => &["t1", "t1", "t1", "t2", "t2", "l1"],
        "z" => &["z1", "z1", "z1", "z2", "z2", "t1"],
        // Sorted sets whose scores are all the same.
        "y" => &["y1", "y1", "y2"],
        "any" => &["s1", "s2", "h1", "h2", "l1", "l2", "t1", "t2", "z1", "z2", "missing"],
        "v" => &[
            "a",
            "b",
            "c",
            "1",
            "2",
            "10",
            "-5",
            "3.5",
            "",
            "hello world",
            "9223372036854775807",
            "007",
            "\u{e9}\r\n",
            "ON",
        ],
        "f" => &["f", "g", "1", "2", ""],
        "m" => &["a", "b", "c", "d", "aa", "1", ""],
        "int" => &[
            "0",
            "1",
            "1",
            "2",
            "3",
            "10",
            "-1",
            "-2",
            "100000",
            "9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "x",
            "1.0",
            " 1",
            "+1",
        ],
        "span" => &["100000", "200000", "0", "-1", "x", "9223372036854775807", "-9223372036854775808"],
        "index" => &[
            "0",
            "1",
            "2",
            "3",
            "-1",
            "-2",
            "-3",
            "-1",
            "100",
            "-100",
            "x",
            "9223372036854775807",
            "-9223372036854775808",
        ],
        "offset" => &["0", "1", "3", "5", "-1", "536870912", "x"],
        "float" => &[
            "0.1",
            "1",
            "-2.5",
            "1e5",
            "3.0e3",
            "inf",
            "-inf",
            "nan",
            "1e400",
            "x",
            " 1",
            "0x10",
            "1.7976931348623157e308",
        ],
        "score" => &[
            "0",
            "1",
            "2",
            "1",
            "2.5",
            "-1",
            "0.1",
            "1e300",
            "3.14159",
            "inf",
            "-inf",
            "nan",
            "x",
            "0x10",
            "1e-7",
            "123456789012",
            "1e17",
        ],
        "sb" => &["-inf", "+inf", "0", "1", "(1", "2", "(2.5", "-1", "(inf", "x", "(", "(nan"],
        "lb" => &["-", "+", "[a", "(a", "[b", "(c", "[aa", "[", "(", "a", "", "[1"],
        "instant" => &["4102444800000", "4102444801000", "1", "0", "-1", "4102444800", "9223372036854775807", "x"],
        "setopt" => &["NX", "XX", "GET", "KEEPTTL", "nx", "bad", "get"],
        "expopt" => &["EX", "PX", "EXAT", "PXAT", "ex"],
        "expflag" => &["NX", "XX", "GT", "LT", "bad"],
        "zopt" => &["NX", "XX", "GT", "LT", "CH", "INCR", "ch"],
        "zropt" => &["REV", "WITHSCORES", "BYSCORE", "BYLEX", "bad"],
        "lposopt" => &["RANK", "COUNT", "MAXLEN", "bad"],
        "where" => &["BEFORE", "AFTER", "before", "bad"],
        "end" => &["LEFT", "RIGHT", "left", "bad"],
        "pattern" => &["*", "s*", "?1", "[hl]*", "[^s]1", "\\*", "", "z[1-2]", "f"],
        "type" => &["string", "hash", "list", "set", "zset", "stream"],
        "script" => &[
            "return 1",
            "return redis.call('GET', KEYS[1])",
            "return redis.pcall('INCR', KEYS[1])",
            "return {1, 2.7, 'x', false, {ok='fine'}}",
            "return redis.error_reply('MINE no')",
            "return redis.status_reply('yes')",
            "return #ARGV + #KEYS",
            "return tostring(tonumber(ARGV[1]))",
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) else return 0 end",
            "return redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')",
            "return redis.call('LRANGE', KEYS[1], 0, -1)",
            "return redis.sha1hex(ARGV[1] or '')",
            "return redis.call('HGETALL', KEYS[1])",
            "return redis.call('TTL')",
            "return redis.call('NOSUCH')",
            "return cjson.encode({ARGV[1], tonumber(ARGV[1]), {k = ARGV[1]}})",
            "return cjson.decode(ARGV[1])",
            "return cjson.encode(redis.call('LRANGE', KEYS[1], 0, -1))",
            "return cjson.decode(cjson.encode({a = {1, 2.5, ARGV[1] or false}})).a",
            "return cmsgpack.pack(ARGV[1], tonumber(ARGV[1]), {ARGV[1]}, #ARGV)",
            "return {cmsgpack.unpack(cmsgpack.pack(ARGV[1], tonumber(ARGV[1]) or 0.1, redis.call('LRANGE', KEYS[1], 0, -1)))}",
            "return {pcall(cmsgpack.unpack, ARGV[1])}",
            "return bit.tohex(bit.bxor(ARGV[1], bit.lshift(ARGV[2] or 1, 3)))",
            "return {bit.band(#ARGV, 1), bit.bnot(tonumber(ARGV[1]) or 7), bit.rol(ARGV[1], 4)}",
            "return struct.pack('>I2lc0', #ARGV, tonumber(ARGV[1]) or 3, KEYS[1] or '')",
            "return {struct.unpack('>I2', ARGV[1] .. 'x')}",
            "return {math.floor(2.7), string.format('%5.1f|%s|%d', 2.25, ARGV[1], 7), table.concat(ARGV, ',')}",
            "local ok, e = pcall(redis.call, 'INCR', KEYS[1]) return {ok, e}",
            "redis.setresp(3) return redis.call('HGETALL', KEYS[1])",
            "return {redis.call('PEXPIREAT', KEYS[1], 4102444800000), redis.call('PEXPIRETIME', KEYS[1])}",
            "return 'unfinished",
            "x = 1",
            "error('boom')",
        ],
        _ => &["?"],
    }
}

/// The words of a command: a template, and which alternative is taken where.
fn words(template: &str, choices: &[u16], mangle: u8) -> Vec<String> {
    let mut choices = choices.iter().cycle();
    let mut words: Vec<String> = Vec::new();
    for word in template.split(' ') {
        words.push(match word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) {
            Some(kind) => {
                let all = alternatives(kind);
                all[usize::from(*choices.next().unwrap_or(&0)) % all.len()].to_owned()
            }
            None => word.to_owned(),
        });
    }
    match mangle {
        0 if words.len() > 1 => drop(words.pop()),
        1 => words.push("extra".to_owned()),
        2 => words[0] = words[0].to_lowercase(),
        _ => {}
    }
    words
}

fn sequence() -> impl Strategy<Value = Vec<Vec<String>>> {
    let command = (0..TEMPLATES.len(), proptest::collection::vec(any::<u16>(), 9), 0_u8..24)
        .prop_map(|(template, choices, mangle)| words(TEMPLATES[template], &choices, mangle));
    proptest::collection::vec(command, 1..80)
}

/// The elements of a flat or nested aggregate, sorted: for replies whose order Redis does not promise.
fn sorted(reply: &[u8]) -> Vec<Vec<u8>> {
    let mut parts: Vec<Vec<u8>> = reply.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    parts.sort();
    parts
}

fn integer(reply: &[u8]) -> Option<i64> {
    std::str::from_utf8(reply.strip_prefix(b":")?).ok()?.trim_end().parse().ok()
}

/// Equal, but for the order of what has none, and for the time that passed between the two servers.
fn same(real: &[u8], fake: &[u8], name: &str, history: &[&Vec<String>]) -> bool {
    if real == fake {
        return true;
    }
    match name {
        // Any field.
        "HRANDFIELD" if history.last().is_some_and(|words| words.len() == 2) => !is_error(real) && !is_error(fake),
        "KEYS" | "SMEMBERS" | "HKEYS" | "HVALS" | "HGETALL" | "HSCAN" | "SCAN" | "HRANDFIELD" | "SPOP" => {
            sorted(real) == sorted(fake)
        }
        "TTL" | "PTTL" | "EXPIRETIME" | "PEXPIRETIME" => integer(real)
            .zip(integer(fake))
            .is_some_and(|(real, fake)| real > 0 && fake > 0 && real.abs_diff(fake) < 5_000),
        // Redis remembers that a string was once changed in place, and shares small integers.
        "OBJECT" => !is_error(real) && !is_error(fake),
        // Its parts are compared as strictly as they would be by themselves, or not at all if one of them may differ.
        "EXEC" => {
            let may_differ = |words: &&Vec<String>| {
                ["TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME", "OBJECT"]
                    .iter()
                    .any(|name| words[0].eq_ignore_ascii_case(name))
            };
            sorted(real) == sorted(fake) || history.iter().any(may_differ)
        }
        _ => false,
    }
}

fn is_error(reply: &[u8]) -> bool {
    reply.starts_with(b"-")
}

#[expect(clippy::disallowed_methods, reason = "the real server lives by the real clock")]
fn now() -> WallTime {
    WallTime(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as i64)
}

struct Fake {
    node: Node,
}

impl Fake {
    fn start() -> Fake {
        let mut fake = Fake {
            node: Node::new(
                NodeConfig { active_expire: false, ..NodeConfig::default() },
                DiskImage::default(),
                7,
                now(),
            ),
        };
        fake.input(Input::Timer);
        fake.input(Input::Accepted { connection: ConnectionId(0), peer: "127.0.0.1:50000" });
        fake
    }

    fn input(&mut self, input: Input<'_>) -> Vec<u8> {
        let (mut out, mut sent) = (Outputs::default(), Vec::new());
        self.node.handle(input, now(), &mut out);
        for output in out.list {
            if let Output::Send { bytes, .. } = output {
                sent.extend_from_slice(&bytes);
            }
        }
        sent
    }
}

/// Commands whose replies tell of the server rather than of the data, or that would silence it.
fn is_comparable(words: &[String]) -> bool {
    let silences =
        words[0].eq_ignore_ascii_case("client") && words.get(1).is_some_and(|word| word.eq_ignore_ascii_case("reply"));
    // A list with elements answers at once; an empty one would keep the connection waiting.
    let waits = matches!(words[0].to_ascii_lowercase().as_str(), "blpop" | "blmove");
    let counts = words[0].eq_ignore_ascii_case("command");
    // Redis documents ranges by member only for sets whose scores are all the same; what it answers otherwise depends on the encoding.
    let is_by_member = words.iter().any(|word| word.to_ascii_lowercase().ends_with("lex"))
        && !words.get(1).is_some_and(|key| key.starts_with('y'));
    // Incrementing makes scores differ.
    let is_by_member = is_by_member
        || words[0].eq_ignore_ascii_case("zadd")
            && words[1..].iter().any(|word| word == "INCR")
            && words[1..].iter().any(|word| word.starts_with('y'));
    // Which members go is chance, unless it is all of them or none.
    let is_chance = |count: &str| !matches!(count, "1000" | "0" | "-1");
    let draws = words[0].eq_ignore_ascii_case("spop")
        && words.get(1).is_some_and(|key| key != "missing")
        && words.get(2).is_none_or(|count| words.len() == 3 && is_chance(count));
    !draws && !silences && !waits && !counts && !is_by_member
}

fn check(real: &RealRedis, is_resp3: bool, commands: &[Vec<String>]) -> Result<(), TestCaseError> {
    let (mut stream, mut fake) = (real.connect(), Fake::start());
    stream.ask(&["FLUSHALL"]);
    if is_resp3 {
        stream.ask(&["HELLO", "3"]);
        fake.input(Input::Received { connection: ConnectionId(0), bytes: &encode(&["HELLO", "3"]) });
    }
    let commands: Vec<&Vec<String>> = commands.iter().filter(|words| is_comparable(words)).collect();
    // All at once: a round trip for each command would take most of the time.
    let requests: Vec<Vec<u8>> = commands.iter().map(|words| encode(words)).collect();
    stream.write(&requests.concat());
    for (index, request) in requests.iter().enumerate() {
        let expected = stream.read();
        let answered = fake.input(Input::Received { connection: ConnectionId(0), bytes: request });
        let history = &commands[..=index];
        let name = commands[index][0].to_ascii_uppercase();
        prop_assert!(
            same(&expected, &answered, &name, history),
            "real {:?}\nfake {:?}\nafter\n{:?}",
            String::from_utf8_lossy(&expected),
            String::from_utf8_lossy(&answered),
            history
        );
    }
    Ok(())
}

#[test]
fn replies_are_those_of_a_real_redis() {
    let Some(real) = RealRedis::start(&["--enable-debug-command", "yes"]) else { return };
    // When keys are deleted that nobody asks for is a matter of timing: here never, in both.
    real.connect().ask(&["DEBUG", "SET-ACTIVE-EXPIRE", "0"]);
    let cases = std::env::var("FENCEPOST_DIFFERENTIAL_CASES").ok().and_then(|cases| cases.parse().ok());
    let cases = cases.unwrap_or(CASES);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 4_000, ..Config::default() };
    // The same sequences every time, so that a failure is a change of ours; another seed looks elsewhere.
    let seed = std::env::var("FENCEPOST_DIFFERENTIAL_SEED").ok().and_then(|seed| seed.parse::<u8>().ok()).unwrap_or(0);
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let result = runner.run(&(any::<bool>(), sequence()), |(is_resp3, commands)| check(&real, is_resp3, &commands));
    if let Err(failure) = result {
        panic!("{failure}");
    }
}
