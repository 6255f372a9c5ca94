use super::facts;
use super::quantity::{Facts, find};
use crate::clients;
use crate::engine::Engine;
use crate::run::RunSpec;
use crate::setup::scenario::{Persistence, Scenario};
use crate::setup::span::Span;
use fencepost_faults::{
    Families, Family, Fault, FaultPlan, Micros, Node, Seed, SimTime, TimedFault,
};
use fencepost_reports::{Kind, judge};
use std::rc::Rc;

fn barest_majority(hold: &str, retry_us: u64) -> Scenario {
    let text = format!(
        "processes = 2\ncycles = 1\nmasters = 3\nmasters-order = \"rotated\"\nstagger = \"100ms\"\n\
         latency = \"200us..60ms\"\nslow-link = \"client-1/redis-3\"\nthink = \"200us..200us\"\n\
         hold = \"{hold}\"\nretry = \"{retry_us}us..{retry_us}us\"\n"
    );
    Scenario::of_table(text.parse().expect("TOML")).expect("a scenario")
}

fn drift(drift_ppm: u64) -> FaultPlan {
    let rate_ppm = i32::try_from(drift_ppm * 1_000_000 / (2_000_000 + drift_ppm)).expect("a rate");
    let slow = [1, 2].map(|number| (Node::Client(number), -rate_ppm));
    let fast = [1, 2, 3].map(|number| (Node::Redis(number), rate_ppm));
    let duration_us = Micros::from_secs(60);
    let of = |(number, (node, rate_ppm))| TimedFault {
        id: number,
        at_us: SimTime(0),
        fault: Fault::ClockDrift { node, rate_ppm, duration_us },
    };
    FaultPlan { faults: (1..).zip(slow.into_iter().chain(fast)).map(of).collect() }
}

fn facts_of(client: &str, scenario: &Scenario) -> Facts {
    facts(clients::find(client).expect("a lock"), scenario).expect("a run")
}

fn bound(quantity: &str, scenario: &Scenario) -> u64 {
    let quantity = find(quantity).expect("a quantity");
    (quantity.bounds)(&facts_of("redlock", scenario))[0].value
}

fn overlaps(family: Family, scenario: Scenario, plan: FaultPlan) -> bool {
    let spec = RunSpec {
        seed: Seed(1),
        client: clients::find("redlock").expect("redlock"),
        families: Families::from(family),
        scenario: Rc::new(scenario),
        plan,
    };
    let outcome = spec.run(Engine::Fast).expect("a run");
    judge(&outcome.history).violations.iter().any(|found| found.kind == Kind::Overlap)
}

/// The bound is 10 s / (9.898 s - 2 x 200 us) - 1: the validity is the ttl minus 1 % and 2 ms.
#[test]
fn drift_breaks_redlock_by_a_few_messages_beyond_the_bound_and_not_below_it() {
    let scenario = barest_majority("until-validity", 100_000);
    assert_eq!(bound("drift", &scenario), 10_345);
    let breaks = |drift_ppm| {
        let retries = (9_791_000..9_793_000).step_by(100);
        let of = |retry_us| barest_majority("until-validity", retry_us);
        let drift = drift(drift_ppm);
        retries.map(of).any(|scenario| overlaps(Family::ClockDrift, scenario, drift.clone()))
    };
    assert!(breaks(10_410));
    assert!(!breaks(10_345));
}

#[test]
fn a_hold_on_masters_is_counted_from_the_first_grant_and_may_begin_late() {
    let hold = |text: &str| facts_of("redlock", &barest_majority(text, 100_000)).longest_hold;
    assert_eq!(hold("until-validity"), Micros(9_898_000 - 2 * 200));
    // At two other masters, a connect and a request time out after 50 ms each.
    assert_eq!(hold("1s..1s"), Micros(1_000_000 + 7 * 60_000 + 2 * 2 * 50_000));
}

/// A master restarts without the lock that it granted. `explore` found the plan.
#[test]
fn a_restart_breaks_redlock_by_a_few_messages_before_the_bound_and_not_after_it() {
    let scenario = |restart_delay: &str| {
        let text = format!(
            "processes = 2\ncycles = 1\nmasters = 3\nlatency = \"200us..2ms\"\n\
             slow-link = \"client-1/redis-2\"\nthink = \"1ms\"\nhold = \"until-validity\"\n\
             retry = \"9874ms\"\nstrategy = \"uniform\"\nrestart-delay = \"{restart_delay}\"\n"
        );
        Scenario::of_table(text.parse().expect("TOML")).expect("a scenario")
    };
    assert_eq!(bound("restart-delay", &scenario("9893ms")), 9_897_600);
    let breaks = |restart_delay: &str| {
        let scenario = scenario(restart_delay);
        let down_us = Some(scenario.faults.restart_delay.max.0);
        let fault = Fault::Crash { node: Node::Redis(3), down_us };
        let timed = TimedFault { id: 1, at_us: SimTime(3_300), fault };
        overlaps(Family::Restart, scenario, FaultPlan { faults: vec![timed] })
    };
    assert!(breaks("9891ms"));
    assert!(breaks("9893ms"));
    assert!(!breaks("9897600us"));
}

#[test]
fn a_lock_that_expires_is_told_from_one_that_lasts() {
    let expires = |name: &str| facts_of(name, &Scenario::default()).expires;
    for name in [
        "single-node", "setnx-expire", "setnx-getset", "jdbc-7", "memcached-add",
        "select-for-update-timeout",
    ] {
        assert!(expires(name), "{name}");
    }
    for name in ["setnx", "mysql-get-lock", "pg-advisory", "select-for-update", "curator-mutex"] {
        assert!(!expires(name), "{name}");
    }
    let scenario = Scenario { ttl: Span::secs(3_600), ..Scenario::default() };
    assert!(facts_of("single-node", &scenario).expires, "the server records the lease");
}

#[test]
fn the_deployment_decides_which_servers_lose_grants_and_which_clocks_end_them() {
    let mut scenario = Scenario::default();
    let facts = |client: &str, scenario: &Scenario| {
        let Facts { loses_grants, steps_end_leases, .. } = facts_of(client, scenario);
        (loses_grants, steps_end_leases)
    };
    assert_eq!(facts("single-node", &scenario), (true, true));
    assert_eq!(facts("memcached-add", &scenario), (true, false), "its clock is monotonic");
    assert_eq!(facts("jdbc-7", &scenario), (false, true), "a commit survives a restart");
    assert_eq!(facts("select-for-update-timeout", &scenario), (true, false));
    assert_eq!(facts("mysql-get-lock", &scenario), (true, false));
    assert_eq!(facts("curator-mutex", &scenario), (false, false));
    scenario.servers.persistence = Persistence::AofAlways;
    assert_eq!(facts("single-node", &scenario), (false, true));
    assert_eq!(facts("memcached-add", &scenario), (true, false), "it has no append-only file");
}
