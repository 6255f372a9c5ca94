//! Sends arbitrary bytes to a GemFire server, which must then answer another client. If the input
//! begins with 5, the server is one of three, and connection 0 is initially from another server.

use crate::bench::{Bench, START};
use fencepost_gemfire::{Config, GemFire, Server};
use fencepost_machine::Now;

pub(super) fn run(input: &[u8]) {
    let is_alone = input.first() != Some(&5);
    let server = |id| Server { id, host: format!("gemfire-{id}"), port: 40_404 };
    let servers = if is_alone { Vec::new() } else { (1..=3).map(server).collect() };
    let config = Config { servers, ..Config::default() };
    let mut server = Bench::of(GemFire::new(config, Now::unstepped(START)));
    let greeting: &[u8] = if is_alone { b"" } else { b"server 2\n" };
    let said = server.converse(greeting, input, None, b"nonsense\n");
    assert!(said.starts_with(b"error request"), "{}", String::from_utf8_lossy(&said));
}
