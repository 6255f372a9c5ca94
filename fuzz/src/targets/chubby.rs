//! Sends bytes to a Chubby replica, which must then answer another client. If the first byte
//! is 5, the replica is one of five, and another replica opens connection 0.

use crate::bench::{Bench, START};
use fencepost_chubby::{Chubby, Config, Member};
use fencepost_machine::{DiskImage, Now};

pub(super) fn run(input: &[u8]) {
    let is_alone = input.first() != Some(&5);
    let member = |id| Member { id, host: format!("chubby-{id}"), port: 2_006 };
    let members = if is_alone { Vec::new() } else { (1..=5).map(member).collect() };
    let config = Config { members, ..Config::default() };
    let mut server = Bench::of(Chubby::new(config, &DiskImage::default(), Now::unstepped(START)));
    let greeting: &[u8] = if is_alone { b"" } else { b"replica 2\n" };
    let said = server.converse(greeting, input, None, b"master\n");
    assert!(said.starts_with(b"master "), "{}", String::from_utf8_lossy(&said));
}
