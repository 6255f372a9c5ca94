//! What a Sentinel's configuration file holds, so that it survives the process: who it is, how it
//! voted, and what it monitors (`rewriteConfigSentinelOption`).
//!
//! Redis writes and syncs the file whenever one of these changes, so that neither a crash nor a
//! power loss takes anything away.

use super::{
    Address, Sentinel, SentinelConfig,
    instance::{Instance, Kind},
    master::Master,
};
use fencepost_machine::WallTime;

/// What a Sentinel remembers after a restart. Take it when its process ends, and hand it to
/// [`Sentinel::restarted`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentinelMemory {
    my_id: String,
    epoch: u64,
    masters: Vec<Remembered>,
}

/// A monitored primary.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Remembered {
    /// Its name, its present address, its replicas and its settings.
    config: SentinelConfig,
    config_epoch: u64,
    /// The last epoch in which we voted; for whom is not kept, only that it cannot be done again.
    leader_epoch: u64,
    sentinels: Vec<(String, Address)>,
}

impl Sentinel {
    /// What its configuration file holds just now.
    pub fn memory(&self) -> SentinelMemory {
        let masters = self.masters.iter().map(|master| remember(&self.config, master)).collect();
        SentinelMemory { my_id: self.core.my_id.clone(), epoch: self.core.epoch, masters }
    }

    /// A Sentinel that is started again with what it remembers. The seed should be another one than
    /// before: it decides delays only.
    pub fn restarted(
        config: SentinelConfig,
        memory: SentinelMemory,
        seed: u64,
        now: WallTime,
    ) -> Self {
        let mut sentinel = Sentinel::new(config, seed, now);
        sentinel.core.my_id = memory.my_id;
        sentinel.core.epoch = memory.epoch;
        sentinel.masters =
            memory.masters.iter().map(|remembered| recall(remembered, now.as_millis())).collect();
        sentinel
    }
}

fn remember(config: &SentinelConfig, master: &Master) -> Remembered {
    let address = master.current_address().clone();
    // While a promoted replica is announced, the old primary takes its place among the replicas.
    let known =
        master.replicas.iter().map(|replica| &replica.address).chain([&master.node.address]);
    let known_replicas = known.filter(|known| **known != address).cloned().collect();
    let sentinels =
        master.sentinels.iter().map(|other| (other.name.clone(), other.address.clone())).collect();
    let config = SentinelConfig {
        master_name: master.node.name.clone(),
        master: address,
        quorum: master.quorum,
        down_after_ms: master.node.down_after_ms,
        failover_timeout_ms: master.failover_timeout_ms,
        parallel_syncs: master.parallel_syncs,
        known_replicas,
        ..config.clone()
    };
    Remembered {
        config,
        config_epoch: master.config_epoch,
        leader_epoch: master.leader_epoch,
        sentinels,
    }
}

fn recall(remembered: &Remembered, now: i64) -> Master {
    let mut master = Master::new(&remembered.config, now);
    master.config_epoch = remembered.config_epoch;
    master.leader_epoch = remembered.leader_epoch;
    let down_after_ms = remembered.config.down_after_ms;
    for (run_id, address) in &remembered.sentinels {
        let mut other =
            Instance::new(Kind::Sentinel, run_id.clone(), address.clone(), down_after_ms, now);
        other.run_id = Some(run_id.clone());
        master.sentinels.push(other);
    }
    master
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_machine::Outputs;

    #[test]
    fn a_sentinel_whose_file_names_replicas_need_not_ask_the_primary_for_them() {
        let known = Address::new("redis-2", 6379);
        let config =
            SentinelConfig::new(Address::new("sentinel-1", 26379), Address::new("redis-1", 6379));
        let config = SentinelConfig { known_replicas: vec![known.clone()], ..config };
        let sentinel = Sentinel::new(config, 1, WallTime(1_700_000_000_000_000));
        assert_eq!(sentinel.memory().masters[0].config.known_replicas, [known]);
    }

    #[test]
    fn a_restarted_sentinel_is_the_same_and_does_not_vote_twice_in_an_epoch() {
        let config =
            SentinelConfig::new(Address::new("sentinel-1", 26379), Address::new("redis-1", 6379));
        let (now, mut out) = (WallTime(1_700_000_000_000_000), Outputs::default());
        let mut sentinel = Sentinel::new(config.clone(), 1, now);
        let vote: [&[u8]; 6] =
            [b"SENTINEL", b"is-master-down-by-addr", b"redis-1", b"6379", b"4", b"somebody"];
        sentinel.operate(&vote, &mut out);
        let hello =
            b"sentinel-2,26379,0123456789012345678901234567890123456789,4,mymaster,redis-2,6379,3"
                .as_slice();
        let published: [&[u8]; 3] = [b"PUBLISH", b"__sentinel__:hello", hello];
        sentinel.operate(&published, &mut out);
        let memory = sentinel.memory();
        let mut restarted = Sentinel::restarted(config, memory.clone(), 2, now);
        assert_eq!(restarted.memory(), memory);
        assert_eq!(memory.masters[0].config.master, Address::new("redis-2", 6379));
        assert_eq!(memory.masters[0].config.known_replicas, [Address::new("redis-1", 6379)]);
        assert_eq!(memory.masters[0].sentinels.len(), 1);
        let again: [&[u8]; 6] =
            [b"SENTINEL", b"is-master-down-by-addr", b"redis-2", b"6379", b"4", b"another"];
        restarted.operate(&again, &mut out);
        assert_eq!(restarted.masters[0].leader, None);
    }
}
