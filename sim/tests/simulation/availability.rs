use crate::drawn::{drawn, facts};
use fencepost::Scenario;
use fencepost::setup::scenario::Strategy;
use fencepost::setup::span::Span;
use fencepost_reports::{Cause, Kind};
use std::collections::BTreeSet;

const SEEDS: u64 = 40;

fn causes(client: &str, fault: &str, bound: Option<u64>) -> BTreeSet<Cause> {
    let availability = bound.map(Span::secs);
    let mut causes = BTreeSet::new();
    for seed in 0..SEEDS {
        let strategy = Strategy::Uniform;
        let scenario = Scenario { availability, strategy, ..Scenario::default() };
        let facts = facts(&drawn(client, fault, seed, scenario));
        assert!(facts.acquisitions > 0, "{fault} {seed}");
        let found = facts.violations.iter().filter(|one| one.kind == Kind::Unavailable);
        causes.extend(found.map(|one| one.cause));
    }
    causes
}

#[test]
fn a_waiter_that_sleeps_after_a_restart_leaves_the_lock_unused_and_one_that_polls_does_not() {
    // A restarted server has no subscriptions, so no message wakes redisson's waiters.
    assert_eq!(causes("redisson", "restart", Some(5)), [Cause::MissedWakeup].into());
    assert_eq!(causes("single-node", "restart", Some(5)), [].into());
    assert_eq!(causes("redisson", "restart", None), [].into());
}

#[test]
fn a_cut_keeps_a_lock_at_one_server_from_those_who_want_it_and_a_majority_does_not_need_all() {
    // A SET that a cut delayed takes the lock after its client has given up.
    let both = [Cause::Partition, Cause::LostReply];
    assert_eq!(causes("single-node", "partition", Some(8)), both.into());
    assert_eq!(causes("redlock", "partition", Some(8)), [Cause::LostReply].into());
    assert_eq!(causes("single-node", "none", Some(1)), [].into());
}
