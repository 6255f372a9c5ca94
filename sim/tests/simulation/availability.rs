use fencepost::run::verdicts::Findings;
use fencepost::setup::scenario::Strategy;
use fencepost::setup::span::Span;
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_faults::Seed;
use fencepost_reports::{Cause, Kind};
use std::collections::BTreeSet;
use std::rc::Rc;

const SEEDS: u64 = 40;

fn causes(client: &str, fault: &str, bound: Option<u64>) -> BTreeSet<Cause> {
    let client = fencepost_clients::find(client).expect("a lock");
    let availability = bound.map(Span::secs);
    let mut causes = BTreeSet::new();
    for seed in 0..SEEDS {
        let strategy = Strategy::Uniform;
        let scenario = Scenario { availability, strategy, ..Scenario::default() };
        let families = fault.parse().expect("a family");
        let spec = RunSpec::draw(Seed(seed), client, &families, Rc::new(scenario));
        let outcome = spec.run(Engine::Fast).expect("a run");
        let facts = Findings { spec: &spec, outcome: &outcome }.facts();
        assert!(facts.acquisitions > 0, "{fault} {seed}");
        let found = facts.violations.iter().filter(|one| one.kind == Kind::Unavailable);
        causes.extend(found.map(|one| one.cause));
    }
    causes
}

#[test]
fn a_waiter_that_sleeps_after_a_restart_leaves_the_lock_unused_and_one_that_polls_does_not() {
    // A restarted server has no subscriptions, so no message wakes the sleeping waiters of
    // redisson.
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
