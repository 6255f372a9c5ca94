//! Sentinel's configuration file (`rewriteConfigSentinelOption`, `sentinelFlushConfig`). As in
//! Redis, the Sentinel writes and syncs each change before it replies. The file contains the epoch
//! of the last vote, so a restarted Sentinel cannot vote again in that epoch.

use super::{
    Address, Sentinel, SentinelConfig,
    instance::{Instance, Kind},
    master::Master,
};
use bytes::Bytes;
use fencepost_machine::{DiskImage, Output, Outputs, WallTime};
use std::fmt::Write;

impl Sentinel {
    /// A configuration file on the disk takes precedence over `config`. Use a different seed after
    /// each restart, so that random delays differ.
    pub fn started(config: SentinelConfig, disk: &DiskImage, seed: u64, now: WallTime) -> Self {
        let mut sentinel = Sentinel::new(config, seed, now);
        if let Some(text) = disk.config.as_deref().and_then(|file| str::from_utf8(file).ok()) {
            sentinel.masters.clear();
            text.lines().for_each(|line| sentinel.take_line(line));
            sentinel.core.unsaved = false;
        }
        sentinel
    }

    pub(super) fn keep(&mut self, out: &mut Outputs) {
        if std::mem::take(&mut self.core.unsaved) {
            out.list.push(Output::DiskConfig { config: Bytes::from(self.file()) });
        }
    }

    pub(super) fn file(&self) -> String {
        let mut text = format!(
            "port {}\nsentinel myid {}\nsentinel current-epoch {}\n",
            self.core.announce.port, self.core.my_id, self.core.epoch
        );
        self.masters.iter().for_each(|master| write_master(master, &mut text));
        text
    }

    fn take_line(&mut self, line: &str) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        match words[..] {
            ["sentinel", "myid", id] => self.core.my_id = id.to_owned(),
            ["sentinel", "current-epoch", epoch] => self.core.epoch = number(epoch),
            ["sentinel", "monitor", name, host, port, quorum] => {
                let config = SentinelConfig {
                    master_name: name.to_owned(),
                    master: Address::new(host, number(port)),
                    quorum: number(quorum),
                    known_replicas: Vec::new(),
                    ..self.config.clone()
                };
                self.masters.push(Master::new(&config, self.core.now));
            }
            ["sentinel", option, name, ref values @ ..] => {
                let now = self.core.now;
                let named = |master: &&mut Master| master.node.name == name;
                if let Some(master) = self.masters.iter_mut().find(named) {
                    take_option(master, option, values, now);
                }
            }
            _ => {}
        }
    }
}

fn write_master(master: &Master, text: &mut String) {
    let (name, address) = (&master.node.name, master.current_address());
    let _ = writeln!(
        text,
        "sentinel monitor {name} {} {} {}\nsentinel down-after-milliseconds {name} {}\n\
         sentinel failover-timeout {name} {}\nsentinel parallel-syncs {name} {}\n\
         sentinel config-epoch {name} {}\nsentinel leader-epoch {name} {}",
        address.host,
        address.port,
        master.quorum,
        master.node.down_after_ms,
        master.failover_timeout_ms,
        master.parallel_syncs,
        master.config_epoch,
        master.leader_epoch
    );
    // Once a promoted replica counts as the primary, the old primary counts as a replica.
    let known = master.replicas.iter().chain([&master.node]).map(|instance| &instance.address);
    for Address { host, port } in known.filter(|known| *known != address) {
        let _ = writeln!(text, "sentinel known-replica {name} {host} {port}");
    }
    for other in &master.sentinels {
        let Address { host, port } = &other.address;
        let _ = writeln!(text, "sentinel known-sentinel {name} {host} {port} {}", other.name);
    }
}

fn take_option(master: &mut Master, option: &str, values: &[&str], now: i64) {
    match (option, values) {
        ("down-after-milliseconds", [span]) => master.node.down_after_ms = number(span),
        ("failover-timeout", [span]) => master.failover_timeout_ms = number(span),
        ("parallel-syncs", [count]) => master.parallel_syncs = number(count),
        ("config-epoch", [epoch]) => master.config_epoch = number(epoch),
        ("leader-epoch", [epoch]) => master.leader_epoch = number(epoch),
        ("known-replica", [host, port]) => {
            let address = Address::new(*host, number(port));
            let name = address.to_string();
            master.replicas.push(known(master, Kind::Replica, name, address, now));
        }
        ("known-sentinel", [host, port, run_id]) => {
            let address = Address::new(*host, number(port));
            let mut other = known(master, Kind::Sentinel, (*run_id).to_owned(), address, now);
            other.run_id = Some((*run_id).to_owned());
            master.sentinels.push(other);
        }
        _ => {}
    }
}

fn known(master: &Master, kind: Kind, name: String, address: Address, now: i64) -> Instance {
    Instance::new(kind, name, address, master.node.down_after_ms, now)
}

fn number<T: std::str::FromStr + Default>(text: &str) -> T {
    text.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: WallTime = WallTime(1_700_000_000_000_000);
    const HELLO: &[u8] =
        b"sentinel-2,26379,0123456789012345678901234567890123456789,4,mymaster,redis-2,6379,3";

    fn sentinel() -> (Sentinel, SentinelConfig) {
        let config =
            SentinelConfig::new(Address::new("sentinel-1", 26379), Address::new("redis-1", 6379));
        let config =
            SentinelConfig { known_replicas: vec![Address::new("redis-2", 6379)], ..config };
        (Sentinel::new(config.clone(), 1, NOW), config)
    }

    fn kept(sentinel: &mut Sentinel) -> DiskImage {
        let mut out = Outputs::default();
        sentinel.keep(&mut out);
        let config = out.list.into_iter().find_map(|output| match output {
            Output::DiskConfig { config } => Some(config),
            _ => None,
        });
        DiskImage { config, ..DiskImage::default() }
    }

    #[test]
    fn a_restarted_sentinel_is_the_same_and_does_not_vote_twice_in_an_epoch() {
        let (mut sentinel, config) = sentinel();
        let vote: [&[u8]; 6] =
            [b"SENTINEL", b"is-master-down-by-addr", b"redis-1", b"6379", b"4", b"somebody"];
        sentinel.operate(&vote, &mut Outputs::default());
        sentinel.operate(&[b"PUBLISH", b"__sentinel__:hello", HELLO], &mut Outputs::default());
        let disk = kept(&mut sentinel);
        assert_eq!(kept(&mut sentinel).config, None, "nothing has changed since");
        let mut restarted = Sentinel::started(config, &disk, 2, NOW);
        assert_eq!(restarted.file(), sentinel.file());
        let master = &restarted.masters[0];
        assert_eq!(master.node.address, Address::new("redis-2", 6379));
        assert_eq!(master.replicas[0].address, Address::new("redis-1", 6379));
        assert_eq!((master.sentinels.len(), master.leader_epoch, master.config_epoch), (1, 4, 3));
        let again: [&[u8]; 6] =
            [b"SENTINEL", b"is-master-down-by-addr", b"redis-2", b"6379", b"4", b"another"];
        restarted.operate(&again, &mut Outputs::default());
        assert_eq!(restarted.masters[0].leader, None);
    }

    #[test]
    fn without_a_file_it_starts_as_it_was_first_started() {
        let (mut first, config) = sentinel();
        let mut started = Sentinel::started(config, &DiskImage::default(), 1, NOW);
        assert_eq!(started.file(), first.file());
        assert_eq!(kept(&mut started), kept(&mut first), "who it is is written at its start");
    }
}
