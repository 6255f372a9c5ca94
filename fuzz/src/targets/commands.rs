//! Sends arbitrary commands to a Redis server, which must not panic.

use crate::targets::typed;
use arbitrary::Arbitrary;
use fake_redis::{
    ConnectionId, DiskImage, Input, Machine, Node, NodeConfig, Now, Outputs, WallTime,
};

const NAMES: &[&str] = &[
    "GET", "SET", "GETEX", "GETSET", "APPEND", "SETRANGE", "GETRANGE", "INCRBY", "INCRBYFLOAT",
    "MSET", "DEL", "RENAME", "COPY", "EXPIRE", "PEXPIREAT", "TTL", "PERSIST", "SCAN", "KEYS",
    "OBJECT", "HSET", "HGETALL", "HSCAN", "HRANDFIELD", "HINCRBYFLOAT", "LPUSH", "LPOP", "LRANGE",
    "LPOS", "LINSERT", "LTRIM", "LMOVE", "BLPOP", "SADD", "SPOP", "SSCAN", "ZADD", "ZRANGE",
    "ZRANGESTORE", "ZREMRANGEBYLEX", "ZPOPMIN", "MULTI", "EXEC", "WATCH", "DISCARD", "EVAL",
    "EVALSHA", "SCRIPT", "SUBSCRIBE", "PSUBSCRIBE", "PUBLISH", "PUBSUB", "CLIENT", "CONFIG",
    "DEBUG", "HELLO", "RESET", "SELECT", "SWAPDB", "FLUSHALL", "WAIT", "REPLICAOF", "REPLCONF",
    "PSYNC", "INFO", "COMMAND", "MEMORY", "BGREWRITEAOF", "SAVE", "ROLE", "AUTH",
];

#[derive(Arbitrary, Debug)]
enum Argument {
    Number(i64),
    Small(u8),
    Key(u8),
    Bytes(Vec<u8>),
    Word(u8),
}

const WORDS: &[&str] = &[
    "NX",
    "XX",
    "GT",
    "LT",
    "CH",
    "INCR",
    "EX",
    "PX",
    "EXAT",
    "PXAT",
    "KEEPTTL",
    "GET",
    "MATCH",
    "COUNT",
    "TYPE",
    "LIMIT",
    "BYSCORE",
    "BYLEX",
    "REV",
    "WITHSCORES",
    "LEFT",
    "RIGHT",
    "BEFORE",
    "RANK",
    "+inf",
    "(1",
    "[a",
    "-",
    "*",
    "LOAD",
    "KILL",
    "PAUSE",
    "KILL",
    "NO",
    "ONE",
    "return redis.call(ARGV[1], KEYS[1])",
    "return cjson.decode(ARGV[1])",
    "return \
     {cmsgpack.unpack(ARGV[1])}",
    "return \
     bit.tohex(ARGV[1], ARGV[2])",
];

impl Argument {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Argument::Number(number) => number.to_string().into_bytes(),
            Argument::Small(number) => number.to_string().into_bytes(),
            Argument::Key(number) => format!("k{}", number % 6).into_bytes(),
            Argument::Bytes(bytes) => bytes.clone(),
            Argument::Word(index) => WORDS[usize::from(*index) % WORDS.len()].as_bytes().to_vec(),
        }
    }
}

#[derive(Arbitrary, Debug)]
struct Step {
    connection: bool,
    millis: u16,
    name: u8,
    arguments: Vec<Argument>,
}

fn request(step: &Step) -> Vec<u8> {
    let name = NAMES[usize::from(step.name) % NAMES.len()].as_bytes().to_vec();
    let words: Vec<Vec<u8>> =
        std::iter::once(name).chain(step.arguments.iter().map(Argument::bytes)).collect();
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(&word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}

pub(super) fn run(input: &[u8]) {
    typed(input, check_input);
}

fn check_input(steps: Vec<Step>) {
    let mut now = WallTime(1_700_000_000_000_000);
    let mut node = Node::new(NodeConfig::default(), DiskImage::default(), 1, now);
    let mut out = Outputs::default();
    node.handle(Input::Timer, Now::unstepped(now), &mut out);
    for connection in 0..2 {
        node.handle(
            Input::Accepted { connection: ConnectionId(connection), peer: "127.0.0.1:50000" },
            Now::unstepped(now),
            &mut out,
        );
    }
    for step in &steps {
        now.0 += i64::from(step.millis) * 1_000;
        node.handle(Input::Timer, Now::unstepped(now), &mut out);
        let bytes = request(step);
        node.handle(
            Input::Received { connection: ConnectionId(step.connection.into()), bytes: &bytes },
            Now::unstepped(now),
            &mut out,
        );
        out.clear();
    }
    now.0 += 2_600_000_000_000;
    node.handle(Input::Timer, Now::unstepped(now), &mut out);
    node.handle(
        Input::Accepted { connection: ConnectionId(2), peer: "127.0.0.1:50001" },
        Now::unstepped(now),
        &mut out,
    );
    out.clear();
    node.handle(
        Input::Received { connection: ConnectionId(2), bytes: b"QUIT\r\n" },
        Now::unstepped(now),
        &mut out,
    );
}
