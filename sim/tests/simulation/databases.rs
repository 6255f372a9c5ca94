//! Locks in a database: whose clock ends a lease, and what goes with a connection.

use fencepost::{Engine, RunSpec, Scenario};
use fencepost_clients::find;
use fencepost_faults::{Families, Fault, FaultPlan, Micros, Node, Seed, SimTime, TimedFault};
use fencepost_reports::{Cause, Judgement, Kind, judge};
use std::rc::Rc;

const SEEDS: u64 = 15;

/// Seeds from 0, each with this fault in place of one that was drawn.
fn judged(client: &str, family: &str, fault: &Fault) -> Vec<Judgement> {
    let families: Families = family.parse().unwrap();
    let scenario = Scenario { cycles: 6, ..Scenario::default() };
    let (client, scenario) = (find(client).unwrap(), Rc::new(scenario));
    let one = |seed| {
        let drawn = RunSpec::draw(Seed(seed), client, &families, scenario.clone());
        let timed = TimedFault { id: 1, at_us: SimTime(5_000_000), fault: fault.clone() };
        let spec = RunSpec { plan: FaultPlan::new(vec![timed]), ..drawn };
        judge(&spec.run(Engine::Fast).expect("the run comes to its end").history)
    };
    (0..SEEDS).map(one).collect()
}

/// How many runs show an overlap by this cause.
fn overlaps(judged: &[Judgement], cause: Cause) -> usize {
    let by = |one: &&Judgement| {
        let mut violations = one.violations.iter();
        violations.any(|violation| violation.kind == Kind::Overlap && violation.cause == cause)
    };
    judged.iter().filter(by).count()
}

/// The clock of client-2 is twelve seconds ahead from the fifth second on.
fn fast_client() -> Fault {
    Fault::ClockJump { node: Node::Client(2), offset_us: 12_000_000 }
}

#[test]
fn a_fast_client_steals_a_row_that_it_judges_by_its_own_clock() {
    for client in ["jdbc-4", "jdbc-5", "jdbc-7", "shedlock-jdbc"] {
        let judged = judged(client, "clock-jump", &fast_client());
        assert!(overlaps(&judged, Cause::ClockSkew) > 0, "{client}");
    }
}

#[test]
fn a_fast_client_steals_nothing_that_the_server_judges() {
    let judged = judged("shedlock-db-time", "clock-jump", &fast_client());
    assert!(judged.iter().all(|one| one.violations.is_empty()));
    assert!(judged.iter().all(|one| one.verdict == fencepost_reports::Verdict::Valid));
}

#[test]
fn what_is_kept_for_a_connection_goes_with_the_server_and_a_row_does_not() {
    let down_us = Some(Micros::from_secs(1));
    let restart = Fault::Crash { node: Node::Server(1), down_us };
    for client in ["pg-advisory", "select-for-update", "mysql-get-lock"] {
        let judged = judged(client, "restart", &restart);
        assert!(overlaps(&judged, Cause::ConnectionLost) > 0, "{client}");
    }
    let judged = judged("jdbc-5", "restart", &restart);
    assert!(judged.iter().all(|one| one.violations.is_empty()));
}
