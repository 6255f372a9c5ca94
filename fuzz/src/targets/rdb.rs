//! Reads bytes as a snapshot, which the server must refuse or be able to save again.

use crate::bench::Bench;
use fake_redis::{DiskImage, NodeConfig, Persistence};

fn load(snapshot: &[u8]) -> Bench<fake_redis::Node> {
    let config = NodeConfig { persistence: Persistence::Rdb, ..NodeConfig::default() };
    let snapshot = Some(snapshot.to_vec().into());
    Bench::server(config, DiskImage { snapshot, ..DiskImage::default() })
}

fn saved(mut server: Bench<fake_redis::Node>) -> Vec<u8> {
    assert_eq!(server.ask(&[b"PING"]), b"+PONG\r\n");
    assert_eq!(server.ask(&[b"SAVE"]), b"+OK\r\n");
    server.image.and_then(|image| image.snapshot).expect("a snapshot was saved").to_vec()
}

fn check(snapshot: &[u8]) {
    let server = load(snapshot);
    if server.stopped {
        return assert_eq!(server.image, None);
    }
    let content = saved(server);
    assert_eq!(content, saved(load(&content)));
}

pub(super) fn run(snapshot: &[u8]) {
    check(snapshot);
    // A checksum of 0 disables the check, which most changed files would fail.
    if let Some((content, _)) = snapshot.split_last_chunk::<8>() {
        check(&[content, &[0; 8]].concat());
    }
}
