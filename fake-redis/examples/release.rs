//! Runs a lock's commands on the state machine, so that valgrind can count instructions. Subtract
//! the counts of two runs of different lengths to exclude startup and warm-up.
//!
//!     cargo build --profile test -p fake-redis --example release
//!     valgrind --tool=callgrind target/debug/examples/release both 2000

use fake_redis::{
    ConnectionId, DiskImage, Input, Machine, Node, NodeConfig, Now, Output, Outputs, WallTime,
};
use std::process::ExitCode;

const NOW: WallTime = WallTime(1_700_000_000_000_000);
const CLIENT: ConnectionId = ConnectionId(0);
const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', \
 KEYS[1]) else return 0 end";

fn encode(words: &[&str]) -> Vec<u8> {
    let parts: Vec<String> =
        words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len())).collect();
    format!("*{}\r\n{}", words.len(), parts.concat()).into_bytes()
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next();
    let Some(times) = arguments.next().and_then(|times| times.parse::<u32>().ok()) else {
        eprintln!("usage: release set|both|refused TIMES");
        return ExitCode::FAILURE;
    };
    let config = NodeConfig { active_expire: false, ..NodeConfig::default() };
    let (mut node, mut outputs) =
        (Node::new(config, DiskImage::default(), 1, NOW), Outputs::default());
    node.handle(Input::Timer, Now::unstepped(NOW), &mut outputs);
    node.handle(
        Input::Accepted { connection: CLIENT, peer: "127.0.0.1:50000" },
        Now::unstepped(NOW),
        &mut outputs,
    );
    let mut ask = |bytes: &[u8]| {
        outputs.clear();
        node.handle(
            Input::Received { connection: CLIENT, bytes },
            Now::unstepped(NOW),
            &mut outputs,
        );
        outputs.list.iter().find_map(|output| {
            if let Output::Send { bytes, .. } = output { Some(bytes.clone()) } else { None }
        })
    };
    let sha = ask(&encode(&["SCRIPT", "LOAD", RELEASE])).unwrap_or_default();
    let sha = String::from_utf8_lossy(sha.get(5..45).unwrap_or_default()).into_owned();
    let set = encode(&["SET", "lock", "0123456789abcdef0123", "NX", "PX", "30000"]);
    let delete = encode(&["DEL", "lock"]);
    let release = encode(&["EVALSHA", &sha, "1", "lock", "0123456789abcdef0123"]);
    let refused = encode(&["EVALSHA", &sha, "1", "lock", "somebody else's"]);
    let (first, second): (&[u8], &[u8]) = match kind.as_deref() {
        Some("set") => (&set, &delete),
        Some("both") => (&set, &release),
        _ => (&refused, &refused),
    };
    for _ in 0..times {
        ask(first);
        ask(second);
    }
    ExitCode::SUCCESS
}
