//! Sends bytes to a replica, from its primary and its sub-replica. It must then answer a client.

use crate::bench::Bench;
use crate::parts;
use fake_redis::{ConnectionId, DiskImage, Input, Node, NodeConfig};

fn step(server: &mut Bench<Node>, replica: ConnectionId, kind: u8, rest: &[u8]) {
    let Some(primary) = server.opened.last().copied() else {
        return server.pass(1_000);
    };
    let mut say = |bytes: &[u8]| server.receive(primary, bytes);
    match kind {
        b'T' => server.pass(rest.iter().map(|byte| u64::from(*byte)).sum::<u64>() * 100),
        b'R' => {
            say(format!("${}\r\n", rest.len()).as_bytes());
            say(rest);
        }
        b'F' => say(format!("+FULLRESYNC {} 1000\r\n", "a1b2".repeat(10)).as_bytes()),
        b'P' => server.receive(replica, rest),
        b'C' => {
            server.opened.pop();
            server.input(Input::Closed { connection: primary });
        }
        _ => say(&[&[kind], rest].concat()),
    }
}

pub(super) fn run(input: &[u8]) {
    let replica_of = Some(("primary".to_owned(), 6379));
    let mut server =
        Bench::server(NodeConfig { replica_of, ..NodeConfig::default() }, DiskImage::default());
    server.pass(1_000);
    let replica = server.accept();
    for (kind, rest) in parts(input) {
        step(&mut server, replica, kind, rest);
    }
    server.pass(100_000);
    let answer = server.ask(&[b"PING"]);
    assert!(answer == b"+PONG\r\n" || answer.starts_with(b"-MASTERDOWN"), "{answer:?}");
}
