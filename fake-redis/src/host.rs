//! A Redis server or a Sentinel as a host of somebody's own simulation or runtime.
//!
//! [`serve`] is one future that serves on any listener, connects by any connector, keeps its files
//! on a [`SharedDisk`] and lives by a clock of its own. Under turmoil it is the body of a host; the
//! front page of this crate begins with a complete example.
//!
//! - **Crashes.** To drop the future is to crash the server. turmoil's `crash` and `bounce` do that
//!   and start the host's closure again. The [`SharedDisk`], which the test keeps outside of the
//!   closure, is then what the next life finds: without what was not synced, unless its [`Crash`]
//!   is that of the process alone.
//! - **Clocks.** The closure in [`Hardware::clock`] says what the wall clock shows. To have a
//!   server's clock jump or differ from the others, add to it. Under turmoil count from a fixed
//!   instant, as by `turmoil::sim_elapsed`: `turmoil::since_epoch` begins with the real time of the
//!   run, unless the builder is told an epoch. The monotonic clock is tokio's.
//! - **Names.** [`NodeConfig::host`] and [`SentinelConfig::announce_host`] are what others are told
//!   to connect to, so they are the names of hosts that the connector resolves, as with Redis's
//!   `replica-announce-ip` and `resolve-hostnames`.
//! - **Determinism.** All randomness of a server follows from the seed, its name and the number of
//!   its life. The same simulation may hand all its servers the same seed.
//! - **What turmoil does not do.** It never sends a dropped segment again. A connection that lost
//!   one to a `partition` stays silent after `repair`, until one of its ends gives up: of a replica
//!   after `repl_timeout`, of a Sentinel when it is 15 s old and a PING has had no answer for half
//!   of `down_after_ms`.
//!
//! A Lua script runs within one instant, and one without an end is stopped by its bound on
//! instructions; `busy-reply-threshold` means nothing here.

use crate::config::NodeConfig;
use crate::front::node::Node;
use crate::sentinel::{Sentinel, SentinelConfig};
use fencepost_machine::Machine;
use fencepost_serve::{Beginning, serve_guest};
pub use fencepost_serve::{ByteStream, Crash, Hardware, ServeError, SharedDisk};
use sha1::{Digest, Sha1};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// What to serve.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Server {
    /// A Redis server.
    Redis(Box<NodeConfig>),
    /// A Sentinel.
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

/// Serves until SHUTDOWN, or until the future is dropped, which is a crash.
///
/// `accept` waits for the next connection and says where it comes from; `connect` opens one to a
/// host and port. Both may fail: a connection that cannot be accepted is passed over, one that
/// cannot be opened is tried again as Redis does.
///
/// # Errors
/// If another server runs on the disk.
pub async fn serve<S: ByteStream>(
    server: impl Into<Server>,
    seed: u64,
    hardware: Hardware<impl Fn() -> Duration + 'static>,
    accept: impl AsyncFn() -> io::Result<(S, SocketAddr)> + 'static,
    connect: impl AsyncFn(String, u16) -> io::Result<S> + 'static,
) -> Result<(), ServeError> {
    let server = server.into();
    serve_guest(move |beginning| server.start(seed, beginning), hardware, accept, connect).await
}

impl Server {
    fn start(self, seed: u64, beginning: Beginning) -> Box<dyn Machine> {
        let Beginning { image, starts, now } = beginning;
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

/// A seed for one life of one server.
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
