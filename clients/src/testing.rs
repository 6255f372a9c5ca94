//! A world for this crate's tests: one host, virtual time, and servers that do what a test tells them. Must never be part of a build.
//!
//! Every message takes half a millisecond, so a reply comes one millisecond after its command. All that the client does on the wire
//! is written down, for snapshots: see [`TestWorld::trace`].

mod server;
mod world;

pub(crate) use server::{Answer, Call, normal};
pub(crate) use world::TestWorld;

use crate::env::Address;
use crate::lock::{Servers, Settings};
use std::time::Duration;

/// The settings of most tests.
pub(crate) fn settings() -> Settings {
    Settings {
        ttl: Duration::from_secs(10),
        retry: Duration::from_millis(100)..=Duration::from_millis(200),
        acquire_timeout: Duration::from_secs(1),
        command_timeout: Duration::from_millis(500),
        node_timeout: Duration::from_millis(50),
    }
}

/// The address of a host, at Redis's port.
pub(crate) fn at(host: &str) -> Address {
    Address { host: host.to_owned(), port: 6379 }
}

/// One server, `redis`.
pub(crate) fn one() -> Servers {
    Servers::One(at("redis"))
}

/// Five masters, `m1` to `m5`.
pub(crate) fn five() -> Servers {
    Servers::Independent(["m1", "m2", "m3", "m4", "m5"].map(at).to_vec())
}

/// Two Sentinels, `s1` and `s2`, that watch `mymaster`.
pub(crate) fn sentinels() -> Servers {
    Servers::Sentinels { name: "mymaster".to_owned(), sentinels: ["s1", "s2"].map(at).to_vec() }
}
