//! Any bytes, cut anywhere, on three connections to a GemFire server (pieces 0 to 2), of which the
//! first may be another server's, while time passes (3) and all connections end (4). An input that
//! begins with 5 is about one server of three, any other one about a server alone. No server
//! panics, and the next client gets an answer.
//!
//! Twins in `cargo test`: coordinators/gemfire/src/tests/anything.rs.

use crate::bench::{Bench, START};
use fencepost_gemfire::{Config, GemFire, Server};
use fencepost_machine::Now;

/// Runs one input.
pub(super) fn run(input: &[u8]) {
    let is_alone = input.first() != Some(&5);
    let server = |id| Server { id, host: format!("gemfire-{id}"), port: 40_404 };
    let servers = if is_alone { Vec::new() } else { (1..=3).map(server).collect() };
    let config = Config { servers, ..Config::default() };
    let mut server = Bench::of(GemFire::new(config, Now::unstepped(START)));
    let greeting: &[u8] = if is_alone { b"" } else { b"server 2\n" };
    let said = server.converse(greeting, input, b"nonsense\n");
    assert!(said.starts_with(b"error request"), "{}", String::from_utf8_lossy(&said));
}
