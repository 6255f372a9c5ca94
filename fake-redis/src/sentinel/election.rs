//! Elects the leader of a failover, by a majority of the known Sentinels and at least the quorum.

use super::{core::Core, master::Master, period};
use std::collections::BTreeMap;

impl Master {
    pub(crate) fn vote(
        &mut self,
        epoch: u64,
        candidate: &str,
        core: &mut Core,
    ) -> (Option<&str>, u64) {
        if epoch > core.epoch {
            core.raise_epoch(epoch);
        }
        if self.leader_epoch < epoch && core.epoch <= epoch {
            self.leader = Some(candidate.to_owned());
            self.leader_epoch = core.epoch;
            core.unsaved = true;
            core.event("+vote-for-leader", format!("{candidate} {}", self.leader_epoch));
            // A vote for another Sentinel postpones this Sentinel's own attempt.
            if !candidate.eq_ignore_ascii_case(&core.my_id) {
                self.failover.started = core.now + core.draw_below(period::DESYNC_MS_MAX);
            }
        }
        (self.leader.as_deref(), self.leader_epoch)
    }

    /// Votes at most once per epoch. Returns the elected leader, if any (`sentinelGetLeader`).
    pub(crate) fn leader(&mut self, epoch: u64, core: &mut Core) -> Option<String> {
        let mut votes: BTreeMap<String, usize> = BTreeMap::new();
        for sentinel in &self.sentinels {
            if let Some(leader) = sentinel
                .opinion
                .leader
                .as_ref()
                .filter(|_| sentinel.opinion.leader_epoch == core.epoch)
            {
                *votes.entry(leader.clone()).or_default() += 1;
            }
        }
        let candidate =
            most_voted(&votes).map_or_else(|| core.my_id.clone(), |(leader, _)| leader.to_owned());
        let (leader, voted_in) = self.vote(epoch, &candidate, core);
        if let Some(leader) = leader.filter(|_| voted_in == epoch) {
            *votes.entry(leader.to_owned()).or_default() += 1;
        }
        let voters = self.sentinels.len() + 1;
        let majority = voters / 2 + 1;
        let (leader, count) = most_voted(&votes)?;
        (count >= majority && count >= self.quorum).then(|| leader.to_owned())
    }
}

/// Returns the candidate with the most votes and, in a tie, the smallest run id.
fn most_voted(votes: &BTreeMap<String, usize>) -> Option<(&str, usize)> {
    let most = votes.values().copied().max()?;
    votes.iter().find(|(_, count)| **count == most).map(|(leader, count)| (leader.as_str(), *count))
}

#[cfg(test)]
mod tests {
    use crate::sentinel::{
        Address, SentinelConfig,
        core::Core,
        instance::{Instance, Kind},
        master::Master,
    };

    fn electorate(others: usize, quorum: usize) -> (Master, Core) {
        let address = Address::new("redis-1", 6379);
        let config = SentinelConfig {
            quorum,
            ..SentinelConfig::new(Address::new("sentinel-1", 26379), address.clone())
        };
        let mut master = Master::new(&config, 1_000);
        for number in 0..others {
            let name = format!("other-{number}");
            master.sentinels.push(Instance::new(
                Kind::Sentinel,
                name,
                address.clone(),
                30_000,
                1_000,
            ));
        }
        (master, Core::new(&config, 7, 1_000))
    }

    fn record_vote(master: &mut Master, number: usize, leader: &str, epoch: u64) {
        master.sentinels[number].opinion.leader = Some(leader.to_owned());
        master.sentinels[number].opinion.leader_epoch = epoch;
    }

    #[test]
    fn a_sentinel_votes_once_per_epoch() {
        let (mut master, mut core) = electorate(2, 2);
        assert_eq!(master.vote(1, "first", &mut core), (Some("first"), 1));
        assert_eq!(master.vote(1, "second", &mut core), (Some("first"), 1));
        assert_eq!(master.vote(2, "second", &mut core), (Some("second"), 2));
        assert_eq!(master.vote(1, "first", &mut core), (Some("second"), 2));
        assert_eq!(core.epoch, 2);
    }

    fn check_third_vote_elects(others: usize, quorum: usize) {
        let (mut master, mut core) = electorate(others, quorum);
        core.raise_epoch(1);
        let me = core.my_id.clone();
        record_vote(&mut master, 0, &me, 1);
        assert_eq!(master.leader(1, &mut core), None, "two of {}", others + 1);
        record_vote(&mut master, 1, &me, 1);
        assert_eq!(master.leader(1, &mut core), Some(me), "three of {}", others + 1);
    }

    #[test]
    fn a_leader_needs_a_majority_of_all_known_sentinels() {
        check_third_vote_elects(4, 1);
    }

    #[test]
    fn an_even_electorate_needs_more_than_half() {
        check_third_vote_elects(3, 1);
    }

    #[test]
    fn a_leader_needs_the_quorum_even_beyond_the_majority() {
        check_third_vote_elects(2, 3);
    }

    #[test]
    fn votes_of_another_epoch_do_not_count() {
        let (mut master, mut core) = electorate(2, 1);
        core.raise_epoch(2);
        let me = core.my_id.clone();
        record_vote(&mut master, 0, &me, 1);
        assert_eq!(master.leader(2, &mut core), None);
    }
}
