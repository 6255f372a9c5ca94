use super::{instance::Instance, master::Master, period};
use std::cmp::Ordering;

/// Prefers lower priority, then greater offset, then smaller run id (`compareSlavesForPromotion`).
pub(crate) fn preference(one: &Instance, other: &Instance) -> Ordering {
    let key =
        |replica: &Instance| replica.run_id.as_ref().map(|run_id| run_id.to_ascii_lowercase());
    let by_run_id = match (key(one), key(other)) {
        (Some(one), Some(other)) => one.cmp(&other),
        (one, other) => other.is_some().cmp(&one.is_some()),
    };
    (one.replication.priority.cmp(&other.replication.priority))
        .then(other.replication.offset.cmp(&one.replication.offset))
        .then(by_run_id)
}

impl Master {
    pub(crate) fn select_replica(&self, now: i64) -> Option<usize> {
        let candidates =
            self.replicas.iter().enumerate().filter(|(_, replica)| self.may_promote(replica, now));
        candidates.min_by(|(_, one), (_, other)| preference(one, other)).map(|(place, _)| place)
    }

    fn may_promote(&self, replica: &Instance, now: i64) -> bool {
        let down = self.node.subjectively_down;
        let down_for = if down { now - self.node.down_since } else { 0 };
        let info_ms_max = if down { 5 * period::PING_MS } else { 3 * period::INFO_MS };
        !replica.subjectively_down
            && !replica.link.disconnected
            && now - replica.link.last_available <= 5 * period::PING_MS
            && replica.replication.priority != 0
            && now - replica.info_refreshed <= info_ms_max
            && replica.replication.link_down_ms <= down_for + 10 * self.node.down_after_ms
    }
}

#[cfg(test)]
mod tests {
    use crate::sentinel::{
        Address, SentinelConfig,
        instance::{Instance, Kind},
        master::Master,
    };

    const NOW: i64 = 1_000_000;

    fn master(replicas: usize) -> Master {
        let address = Address::new("redis-1", 6379);
        let mut master = Master::new(
            &SentinelConfig::new(Address::new("sentinel-1", 26379), address.clone()),
            NOW,
        );
        master.node.subjectively_down = true;
        master.node.down_since = NOW - 1_000;
        for number in 0..replicas {
            let mut replica = Instance::new(
                Kind::Replica,
                format!("replica-{number}"),
                address.clone(),
                30_000,
                NOW,
            );
            replica.run_id = Some(format!("{number:040}"));
            replica.link.disconnected = false;
            replica.info_refreshed = NOW;
            replica.replication.offset = 100;
            master.replicas.push(replica);
        }
        master
    }

    #[test]
    fn lower_priority_beats_greater_offset() {
        let mut master = master(2);
        master.replicas[0].replication.offset = 200;
        master.replicas[1].replication.priority = 10;
        assert_eq!(master.select_replica(NOW), Some(1));
    }

    #[test]
    fn greater_offset_beats_smaller_run_id() {
        let mut master = master(2);
        master.replicas[1].replication.offset = 101;
        assert_eq!(master.select_replica(NOW), Some(1));
    }

    #[test]
    fn smaller_run_id_decides_last_and_none_is_worst() {
        let mut master = master(3);
        assert_eq!(master.select_replica(NOW), Some(0));
        master.replicas[0].run_id = None;
        assert_eq!(master.select_replica(NOW), Some(1));
        master.replicas[1].run_id = Some("F".repeat(40));
        master.replicas[2].run_id = Some("a".repeat(40));
        assert_eq!(master.select_replica(NOW), Some(2), "case does not count");
    }

    #[test]
    fn accepts_a_replica_at_each_bound_and_rejects_it_beyond() {
        type Change = fn(&mut Instance, i64);
        let cases: [(&str, Change); 3] = [
            ("ping", |replica, beyond| replica.link.last_available = NOW - 5_000 - beyond),
            ("info", |replica, beyond| replica.info_refreshed = NOW - 5_000 - beyond),
            ("link", |replica, beyond| replica.replication.link_down_ms = 1_000 + 300_000 + beyond),
        ];
        for (name, change) in cases {
            let mut master = master(1);
            change(&mut master.replicas[0], 0);
            assert_eq!(master.select_replica(NOW), Some(0), "{name} at the bound");
            change(&mut master.replicas[0], 1);
            assert_eq!(master.select_replica(NOW), None, "{name} beyond the bound");
        }
    }

    #[test]
    fn rejects_a_replica_that_is_down_disconnected_or_of_priority_zero() {
        let cases: [fn(&mut Instance); 3] = [
            |replica| replica.subjectively_down = true,
            |replica| replica.link.disconnected = true,
            |replica| replica.replication.priority = 0,
        ];
        for change in cases {
            let mut master = master(1);
            change(&mut master.replicas[0]);
            assert_eq!(master.select_replica(NOW), None);
        }
    }
}
