//! Measures the cost of one command in the state machine alone, from request bytes to reply bytes,
//! without sockets or a world.
//!
//!     cargo bench -p fake-redis --bench commands

use criterion::{BatchSize, Criterion};
use fake_redis::{
    ConnectionId, DiskImage, Input, Machine, Node, NodeConfig, Now, Outputs, WallTime,
};

const NOW: WallTime = WallTime(1_700_000_000_000_000);
const CLIENT: ConnectionId = ConnectionId(0);
const RELEASE: &str = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', \
 KEYS[1]) else return 0 end";

fn encode(words: &[&str]) -> Vec<u8> {
    let words = words.iter().map(|word| format!("${}\r\n{word}\r\n", word.len()));
    let words: Vec<String> = words.collect();
    format!("*{}\r\n{}", words.len(), words.concat()).into_bytes()
}

struct Server {
    node: Node,
    outputs: Outputs,
}

impl Server {
    fn new() -> Server {
        let config = NodeConfig { active_expire: false, ..NodeConfig::default() };
        let mut server = Server {
            node: Node::new(config, DiskImage::default(), 1, NOW),
            outputs: Outputs::default(),
        };
        server.node.handle(Input::Timer, Now::unstepped(NOW), &mut server.outputs);
        server.node.handle(
            Input::Accepted { connection: CLIENT, peer: "127.0.0.1:50000" },
            Now::unstepped(NOW),
            &mut server.outputs,
        );
        server
    }

    fn ask(&mut self, bytes: &[u8]) {
        self.outputs.clear();
        self.node.handle(
            Input::Received { connection: CLIENT, bytes },
            Now::unstepped(NOW),
            &mut self.outputs,
        );
    }
}

fn commands(criterion: &mut Criterion) {
    let set = encode(&["SET", "lock", "0123456789abcdef0123", "NX", "PX", "30000"]);
    let get = encode(&["GET", "lock"]);
    let mut server = Server::new();
    let mut group = criterion.benchmark_group("command");
    server.ask(&set);
    group.bench_function("SET NX PX of a taken lock", |bencher| bencher.iter(|| server.ask(&set)));
    group.bench_function("GET", |bencher| bencher.iter(|| server.ask(&get)));
    let plain = encode(&["SET", "lock", "0123456789abcdef0123", "PX", "30000"]);
    group.bench_function("SET PX", |bencher| bencher.iter(|| server.ask(&plain)));
    server.ask(&encode(&["SCRIPT", "LOAD", RELEASE]));
    let sha = String::from_utf8_lossy(&reply(&server)[5..45]).into_owned();
    let refused = encode(&["EVALSHA", &sha, "1", "lock", "somebody else's"]);
    group.bench_function("EVALSHA compare-and-delete that refuses", |bencher| {
        bencher.iter(|| server.ask(&refused))
    });
    let release = encode(&["EVALSHA", &sha, "1", "lock", "0123456789abcdef0123"]);
    group.bench_function("SET NX PX and EVALSHA compare-and-delete", |bencher| {
        bencher.iter_batched(
            || (),
            |()| {
                server.ask(&set);
                server.ask(&release);
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

fn reply(server: &Server) -> Vec<u8> {
    let sent = server.outputs.list.iter().filter_map(|output| match output {
        fake_redis::Output::Send { bytes, .. } => Some(bytes.to_vec()),
        _ => None,
    });
    sent.collect::<Vec<_>>().concat()
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    commands(&mut criterion);
    criterion.final_summary();
}
