//! Sends bytes to an etcd server, which must then report its version to another client. If the
//! input begins with 5, the server is one of three, and pieces of kind 5 or more are from another
//! server.

use crate::bench::{Bench, START};
use fencepost_etcd::{Config, Etcd, Member};
use fencepost_machine::{DiskImage, Now};

const QUESTION: &[u8] = b"GET /version HTTP/1.1\r\nHost: etcd-1\r\n\r\n";
const WAKES: (u32, u64) = (25, 100);

pub(super) fn run(input: &[u8]) {
    let is_alone = input.first() != Some(&5);
    let member = |id| Member { id, host: format!("etcd-{id}"), port: 2379 };
    let members = if is_alone { Vec::new() } else { (1..=3).map(member).collect() };
    let config = Config { members, ..Config::default() };
    let mut server = Bench::of(Etcd::new(config, &DiskImage::default(), Now::unstepped(START)));
    (0..WAKES.0).for_each(|_| server.pass(WAKES.1));
    let said = server.converse(b"", input, Some(5), QUESTION);
    assert!(said.starts_with(b"HTTP/1.1 200 OK\r\n"), "{}", String::from_utf8_lossy(&said));
}
