//! Reads bytes as an append-only file, which the server must refuse or be able to rewrite.

use crate::bench::Bench;
use fake_redis::{DiskImage, Fsync, Node, NodeConfig, Persistence};

fn load(image: DiskImage) -> Bench<Node> {
    let persistence = Persistence::Aof { fsync: Fsync::Always };
    Bench::server(NodeConfig { persistence, ..NodeConfig::default() }, image)
}

fn rewritten(mut server: Bench<Node>) -> DiskImage {
    assert_eq!(server.ask(&[b"PING"]), b"+PONG\r\n");
    server.ask(&[b"BGREWRITEAOF"]);
    server.pass(10_000);
    server.image.expect("the file was rewritten")
}

pub(super) fn run(file: &[u8]) {
    let append_only = file.to_vec().into();
    let server = load(DiskImage { append_only, ..DiskImage::default() });
    if server.stopped {
        return assert_eq!(server.image, None);
    }
    let image = rewritten(server);
    assert_eq!(image, rewritten(load(image.clone())));
}
