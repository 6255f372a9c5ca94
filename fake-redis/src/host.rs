//! Runs a Redis server or a Sentinel as a host in your own simulation or runtime.
//!
//! [`serve`] is a future that serves on any listener, opens connections with any connector, stores
//! its files on a [`SharedDisk`] and uses its own clock. Await it in a turmoil host's body.
//!
//! - **Crashes.** Dropping the future crashes the server, as turmoil's `crash` and `bounce` do.
//!   Keep the [`SharedDisk`] outside the host's closure, so that a restart finds it. A crash loses
//!   unsynced data, unless the disk's [`Crash`] ends only the process.
//! - **Clocks.** [`GuestHardware::clock`] returns the wall clock; add an offset to make it jump or
//!   differ. Under turmoil, add `turmoil::sim_elapsed` to a fixed instant, because
//!   `turmoil::since_epoch` starts at the real time by default. The monotonic clock is tokio's.
//! - **Names.** The connector must resolve [`NodeConfig::host`] and
//!   [`SentinelConfig::announce_host`].
//! - **Determinism.** Randomness derives from the seed, the server's address and the number of its
//!   restarts. All servers of a simulation may share one seed.
//! - **Limits.** turmoil never retransmits a segment that a `partition` dropped, so its connection
//!   stays silent after `repair` until one end gives up. A Lua script takes no time, so
//!   `busy-reply-threshold` has no effect.

use crate::config::NodeConfig;
use crate::front::node::Node;
use crate::sentinel::{Sentinel, SentinelConfig};
use fencepost_machine::Machine;
pub use fencepost_serve::{ByteStream, Crash, GuestHardware, ServeError, SharedDisk};
use fencepost_serve::{StartState, serve_guest};
use sha1::{Digest, Sha1};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Server {
    Redis(Box<NodeConfig>),
    Sentinel(SentinelConfig),
}

impl From<NodeConfig> for Server {
    fn from(config: NodeConfig) -> Server {
        Server::Redis(Box::new(config))
    }
}

impl From<SentinelConfig> for Server {
    fn from(config: SentinelConfig) -> Server {
        Server::Sentinel(config)
    }
}

/// Serves until the server stops, or until the caller drops the future, which crashes the server.
/// Ignores a failed accept, and retries a failed connect as Redis does. Fails if another server
/// runs on the disk, or if the server refuses a damaged file.
///
/// `accept` returns the next connection and its peer; `connect` takes a host and a port.
pub async fn serve<S: ByteStream>(
    server: impl Into<Server>,
    seed: u64,
    hardware: GuestHardware<impl Fn() -> Duration + 'static>,
    accept: impl AsyncFn() -> io::Result<(S, SocketAddr)> + 'static,
    connect: impl AsyncFn(String, u16) -> io::Result<S> + 'static,
) -> Result<(), ServeError> {
    let server = server.into();
    serve_guest(move |beginning| server.start(seed, beginning), hardware, accept, connect).await
}

impl Server {
    fn start(self, seed: u64, beginning: StartState) -> Box<dyn Machine> {
        let StartState { image, starts, now } = beginning;
        match self {
            Server::Redis(config) => {
                let seed = seed_of_life(seed, &config.host, config.port, starts);
                Box::new(Node::new(*config, image, seed, now))
            }
            Server::Sentinel(config) => {
                let (host, port) = (&config.announce_host, config.announce_port);
                let seed = seed_of_life(seed, host, port, starts);
                Box::new(Sentinel::started(config, &image, seed, now))
            }
        }
    }
}

fn seed_of_life(seed: u64, host: &str, port: u16, starts: u64) -> u64 {
    let digest = Sha1::digest(format!("{seed} {host}:{port} {starts}"));
    let first = digest.iter().take(8);
    first.fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::seed_of_life;

    #[test]
    fn every_server_and_every_life_has_a_seed_of_its_own() {
        let seed = seed_of_life(1, "redis-1", 6379, 0);
        assert_eq!(seed, seed_of_life(1, "redis-1", 6379, 0));
        for other in [(2, "redis-1", 6379, 0), (1, "redis-2", 6379, 0), (1, "redis-1", 6380, 0)] {
            assert_ne!(seed, seed_of_life(other.0, other.1, other.2, other.3));
        }
        assert_ne!(seed, seed_of_life(1, "redis-1", 6379, 1));
    }
}
