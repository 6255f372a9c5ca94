//! Sends arbitrary commands to a Redis server, which must not panic.

use crate::bench::{Bench, encode};
use crate::targets::typed;
use arbitrary::Arbitrary;
use fake_redis::{DiskImage, NodeConfig};

const LAST_PAUSE_MS: u64 = 2_600_000_000;

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
    let arguments: Vec<Vec<u8>> = step.arguments.iter().map(Argument::bytes).collect();
    let mut words = vec![NAMES[usize::from(step.name) % NAMES.len()].as_bytes()];
    words.extend(arguments.iter().map(Vec::as_slice));
    encode(&words)
}

pub(super) fn run(input: &[u8]) {
    typed(input, check_input);
}

fn check_input(steps: Vec<Step>) {
    let mut server = Bench::server(NodeConfig::default(), DiskImage::default());
    let clients = [server.accept(), server.accept()];
    for step in &steps {
        server.pass(step.millis.into());
        server.receive(clients[usize::from(step.connection)], &request(step));
        server.sent.clear();
    }
    server.pass(LAST_PAUSE_MS);
    let last = server.accept();
    server.receive(last, b"QUIT\r\n");
}
