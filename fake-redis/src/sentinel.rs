//! Redis Sentinel as a pure state machine, after Redis 7.0's `sentinel.c`. Redis runs Sentinel's
//! timer ten to twenty times a second. This implementation sleeps until the next action is due
//! (`schedule`), plus a random delay of less than one timer period, so that Sentinels do not act in
//! step after a common start.

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
mod hello_cache;
mod info;
mod instance;
mod link;
mod machine;
mod master;
mod memory;
mod promotion;
mod query;
mod reconfigure;
mod schedule;

#[cfg(test)]
mod tests;

pub use address::Address;
pub use machine::Sentinel;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentinelConfig {
    /// Host that the Sentinel announces to other Sentinels (`sentinel announce-ip`).
    pub announce_host: String,
    pub announce_port: u16,
    /// Name of the monitored primary, such as `mymaster`.
    pub master_name: String,
    pub master: Address,
    /// Number of Sentinels that must agree that the primary is down before an automatic failover.
    pub quorum: usize,
    /// Milliseconds of silence before an instance counts as down (`down-after-milliseconds`).
    pub down_after_ms: i64,
    /// Time limit of a failover step in milliseconds, and half of the minimum interval between two
    /// automatic attempts (`failover-timeout`).
    pub failover_timeout_ms: i64,
    /// Maximum number of replicas to reconfigure in parallel (`parallel-syncs`).
    pub parallel_syncs: usize,
    /// Replicas known at the start (`sentinel known-replica`). The primary's INFO adds others.
    pub known_replicas: Vec<Address>,
}

impl SentinelConfig {
    /// Creates a configuration with Redis's defaults, such as down-after 30 s, and a quorum of 2.
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

/// The periods and time limits of `sentinel.c` in milliseconds, such as `sentinel_info_period`.
pub(crate) mod period {
    pub(crate) const INFO_MS: i64 = 10_000;
    pub(crate) const INFO_URGENT_MS: i64 = 1_000;
    pub(crate) const PING_MS: i64 = 1_000;
    pub(crate) const ASK_MS: i64 = 1_000;
    pub(crate) const PUBLISH_MS: i64 = 2_000;
    pub(crate) const TILT_TRIGGER_MS: i64 = 2_000;
    pub(crate) const TILT_MS: i64 = 30_000;
    pub(crate) const RECONFIGURE_MS: i64 = 10_000;
    pub(crate) const LINK_MS_MIN: i64 = 15_000;
    pub(crate) const ELECTION_MS: i64 = 10_000;
    pub(crate) const DESYNC_MS_MAX: u64 = 1_000;
}
