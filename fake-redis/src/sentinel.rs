//! Redis Sentinel as a pure state machine: it watches a primary and its replicas, agrees with the
//! other Sentinels that the primary is down, elects one of them and has it promote a replica.
//!
//! The rules are those of Redis 7.0's `sentinel.c`; each file names the functions whose behaviour
//! it follows.
//!
//! Redis looks at everything ten to twenty times a second. This one works out when something will
//! be due (`schedule`) and sleeps until then, rounded up by a random fraction of such a tick, so
//! that Sentinels started together still drift apart.

mod address;
mod attempt;
mod clients;
mod clock;
mod commands;
mod core;
mod describe;
mod down;
mod election;
mod event;
mod events;
mod failover;
mod hello;
mod info;
mod instance;
mod link;
mod machine;
mod master;
mod memory;
mod promotion;
mod query;
mod reconfigure;
mod said;
mod schedule;

#[cfg(test)]
mod tests;

pub use address::Address;
pub use machine::Sentinel;

/// What a Sentinel is told at its start, as `sentinel.conf` does it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentinelConfig {
    /// Where the others reach it (`sentinel announce-ip`).
    pub announce_host: String,
    /// The port at which the others reach it.
    pub announce_port: u16,
    /// The name of the monitored primary, such as `mymaster`.
    pub master_name: String,
    /// Where the primary is at the start.
    pub master: Address,
    /// How many Sentinels must see the primary down for it to be objectively so.
    pub quorum: usize,
    /// How long an instance may be silent before it is subjectively down, in milliseconds
    /// (`down-after-milliseconds`).
    pub down_after_ms: i64,
    /// The span that bounds each step of a failover and, doubled, the pause before the next attempt
    /// (`failover-timeout`).
    pub failover_timeout_ms: i64,
    /// How many replicas are pointed at the new primary at the same time (`parallel-syncs`).
    pub parallel_syncs: usize,
    /// Where replicas are that it has found in an earlier life (`sentinel known-replica`); others
    /// it finds by asking the primary.
    pub known_replicas: Vec<Address>,
}

impl SentinelConfig {
    /// Redis's defaults for everything but the addresses: quorum 2, 30 s, 180 s, 1.
    pub fn new(announce: Address, master: Address) -> Self {
        Self {
            announce_host: announce.host,
            announce_port: announce.port,
            master_name: "mymaster".to_owned(),
            master,
            quorum: 2,
            down_after_ms: 30_000,
            failover_timeout_ms: 180_000,
            parallel_syncs: 1,
            known_replicas: Vec::new(),
        }
    }
}

/// The periods of `sentinel.c`, in milliseconds.
pub(crate) mod period {
    /// `sentinel_info_period`.
    pub(crate) const INFO_MS: i64 = 10_000;
    /// How often INFO is asked for while a failover is near (`sentinelSendPeriodicCommands`).
    pub(crate) const INFO_URGENT_MS: i64 = 1_000;
    /// `sentinel_ping_period`, also the shortest span between two attempts to connect.
    pub(crate) const PING_MS: i64 = 1_000;
    /// `sentinel_ask_period`.
    pub(crate) const ASK_MS: i64 = 1_000;
    /// `sentinel_publish_period`.
    pub(crate) const PUBLISH_MS: i64 = 2_000;
    /// `sentinel_tilt_trigger`.
    pub(crate) const TILT_TRIGGER_MS: i64 = 2_000;
    /// `sentinel_tilt_period`.
    pub(crate) const TILT_MS: i64 = 30_000;
    /// `sentinel_slave_reconf_timeout`.
    pub(crate) const RECONFIGURE_MS: i64 = 10_000;
    /// `sentinel_min_link_reconnect_period`.
    pub(crate) const LINK_MS_MIN: i64 = 15_000;
    /// `sentinel_election_timeout`.
    pub(crate) const ELECTION_MS: i64 = 10_000;
    /// `SENTINEL_MAX_DESYNC`.
    pub(crate) const DESYNC_MS_MAX: u64 = 1_000;
}
