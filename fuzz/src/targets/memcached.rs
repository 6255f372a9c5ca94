//! Sends bytes to a memcached server. Each of its outputs must end with a complete line.

use crate::bench::{Bench, START};
use crate::pieces;
use fencepost_machine::Now;
use fencepost_memcached::{Config, Memcached};

pub(super) fn run(input: &[u8]) {
    let config = Config { memory_limit: 1 << 16, ..Config::default() };
    let mut server = Bench::of(Memcached::new(config, Now::unstepped(START)));
    let connections = [server.accept(), server.accept(), server.accept()];
    for (kind, bytes) in pieces(input) {
        match connections.get(usize::from(kind)) {
            Some(connection) => server.receive(*connection, bytes),
            None => server.pass(bytes.iter().map(|byte| u64::from(*byte)).sum()),
        }
        for (_, said) in server.sent.drain(..) {
            assert!(said.ends_with(b"\r\n"), "{said:?}");
        }
    }
    let last = server.accept();
    server.receive(last, b"version\r\n");
    assert_eq!(server.sent, [(last, b"VERSION 1.6.18\r\n".to_vec())]);
}
