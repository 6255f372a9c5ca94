//! Violations that fencepost must find or must never find. Most tests run the seeds from 0 to 99,
//! or as many as `FENCEPOST_SEEDS` specifies. With `--nocapture --include-ignored`, these tests
//! print the findings of each case.

use crate::drawn::{drawn, violations};
use fencepost::setup::scenario::{FaultSizes, Hold, Persistence, Servers};
use fencepost::setup::span::{Span, SpanRange};
use fencepost::studies::sweep::{Silent, Stop, SweepSpec, count};
use fencepost::{Engine, Scenario};
use fencepost_faults::{FAMILIES, Families, Fault, Seed};
use fencepost_reports::summary::sweep::{Cell, SeedRange, Shard};
use fencepost_reports::{Cause, Kind};
use fencepost_testing::differential::number;
use std::rc::Rc;

fn seeds() -> u64 {
    number("FENCEPOST_SEEDS").unwrap_or(100)
}

fn cells(clients: &[&str], faults: &[&str], scenario: Scenario) -> Vec<Cell> {
    let client = |name: &&str| fencepost_clients::find(name).unwrap();
    let families = |name: &&str| -> Families { name.parse().unwrap() };
    let spec = SweepSpec {
        cells: clients
            .iter()
            .map(client)
            .flat_map(|client| faults.iter().map(move |fault| (client, families(fault))))
            .collect(),
        scenario,
        engine: Engine::Fast,
        seeds: SeedRange { from: Seed(0), to: Seed(seeds()) },
        shard: Shard::WHOLE,
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        fail_fast: false,
        explains: false,
        violations_max: fencepost_reports::summary::sweep::VIOLATIONS_MAX,
    };
    let sum = count(&spec, &Silent, &Stop::new()).unwrap_or_else(|failed| panic!("{failed:?}"));
    for cell in &sum.cells {
        let Cell { runs, valid, violated, unknown, .. } = cell;
        let (kinds, causes) = (&cell.violations_by_kind, &cell.violations_by_cause);
        let counts = format!("{runs} runs, {valid} valid, {violated} violated, {unknown} unknown");
        println!("{}: {counts}, {kinds:?} {causes:?}", name(cell));
        assert_eq!(cell.runs, seeds());
    }
    sum.cells
}

fn name(cell: &Cell) -> String {
    format!("{} x {}", cell.client, cell.fault)
}

fn cell(client: &str, fault: &str, scenario: Scenario) -> Cell {
    cells(&[client], &[fault], scenario).remove(0)
}

fn under(client: &str, fault: &str) -> Cell {
    cell(client, fault, Scenario::default())
}

fn finds(cell: &Cell, kind: Kind) {
    assert!(cell.violations_by_kind.contains_key(&kind), "{} shows no {kind}", name(cell));
}

fn finds_for(cell: &Cell, kind: Kind, cause: Cause) {
    let shows = cell.fingerprints.iter().any(|found| found.kind == kind && found.cause == cause);
    assert!(shows, "{} shows no {kind} by {cause}: {:?}", name(cell), cell.fingerprints);
}

fn never(cell: &Cell, kinds: &[Kind]) {
    for kind in kinds {
        let found = cell.violations_by_kind.get(kind);
        assert_eq!(found, None, "{}: {kind}, first at {:?}", name(cell), cell.first_seed);
    }
    assert!(cell.valid * 2 > cell.runs, "{}: only {} runs are valid", name(cell), cell.valid);
}

const HARM: &[Kind] = &[Kind::StaleWrite, Kind::LostUpdate, Kind::Oversold, Kind::DuplicateNumber];

fn finds_harm(cell: &Cell) {
    let harmed = HARM.iter().any(|kind| cell.violations_by_kind.contains_key(kind));
    assert!(harmed, "{} shows no harm", name(cell));
}

#[test]
fn single_node_breaks_under_pauses_but_never_deletes_anothers_lock() {
    let cell = under("single-node", "pause");
    finds(&cell, Kind::Overlap);
    finds_harm(&cell);
    assert_eq!(cell.violations_by_kind.get(&Kind::ForeignRelease), None);
}

#[test]
fn single_node_loses_locks_to_asynchronous_replication() {
    finds_for(&under("single-node", "failover"), Kind::Overlap, Cause::AsyncReplicationLoss);
}

/// Long pauses between cycles leave the lock free at times. The promoted replica then has no
/// earlier lock that hides the loss of the latest one.
#[test]
fn single_node_loses_locks_to_a_primary_that_dies_with_them() {
    let span = |text: &str| -> SpanRange { text.parse().unwrap() };
    let scenario = Rc::new(Scenario {
        hold: Hold::Drawn(span("2s..8s")),
        think: span("1s..10s"),
        cycles: 10,
        ..Scenario::default()
    });
    let found = (0..40).any(|seed| {
        let spec = drawn("single-node", "failover", seed, scenario.clone());
        let partitioned =
            spec.plan.faults.iter().any(|timed| matches!(timed.fault, Fault::Partition { .. }));
        let lost = |kind, cause| kind == Kind::Overlap && cause == Cause::AsyncReplicationLoss;
        !partitioned && violations(&spec).iter().any(|found| lost(found.kind, found.cause))
    });
    assert!(found);
}

#[test]
fn single_node_loses_locks_to_a_restart_without_persistence() {
    finds(&under("single-node", "restart"), Kind::Overlap);
}

#[test]
fn single_node_survives_a_restart_that_loses_nothing() {
    let scenario = Scenario {
        servers: Servers { persistence: Persistence::AofAlways, ..Servers::default() },
        ..Scenario::default()
    };
    never(&cell("single-node", "restart", scenario), &[Kind::Overlap]);
}

#[test]
fn single_node_loses_locks_to_a_clock_that_jumps() {
    finds_for(&under("single-node", "clock-jump"), Kind::Overlap, Cause::ClockJump);
}

#[test]
fn a_watchdog_keeps_the_lock_for_a_holder_that_does_not_come_back_and_a_plain_lease_does_not() {
    let span = |text: &str| -> SpanRange { text.parse().unwrap() };
    let stuck = Scenario {
        hold: Hold::Drawn(span("20s..20s")),
        held_bound: Some(Span::secs(15)),
        cycles: 1,
        ..Scenario::default()
    };
    finds_for(&cell("watchdog", "none", stuck.clone()), Kind::HeldForever, Cause::HoldTooLong);
    let leased = cell("single-node", "none", stuck.clone());
    finds_for(&leased, Kind::Overlap, Cause::HoldTooLong);
    assert_eq!(leased.violations_by_kind.get(&Kind::HeldForever), None);
    let unbounded = cell("watchdog", "none", Scenario { held_bound: None, ..stuck });
    assert_eq!(unbounded.violations_by_kind.get(&Kind::HeldForever), None);
}

#[test]
fn redlock_breaks_under_pauses_and_suspensions() {
    for fault in ["pause", "suspend"] {
        let cell = under("redlock", fault);
        finds(&cell, Kind::Overlap);
        finds_harm(&cell);
    }
}

#[test]
fn redlock_breaks_when_masters_restart_at_once() {
    let cell = under("redlock", "restart");
    finds_for(&cell, Kind::Overlap, Cause::RestartWithoutDelay);
}

#[test]
fn redlock_survives_restarts_that_are_delayed_by_more_than_the_ttl() {
    let delay = SpanRange::new(Span::millis(10_500), Span::millis(15_000));
    let scenario = Scenario {
        faults: FaultSizes { restart_delay: delay, ..FaultSizes::default() },
        ..Scenario::default()
    };
    never(&cell("redlock", "restart", scenario), &[Kind::Overlap]);
}

#[test]
fn redlock_breaks_when_clocks_jump() {
    finds_for(&under("redlock", "clock-jump"), Kind::Overlap, Cause::ClockJump);
}

#[test]
fn redlock_survives_a_bad_network() {
    for fault in ["latency", "partition"] {
        never(&under("redlock", fault), &[Kind::Overlap]);
    }
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn redlock_breaks_when_clocks_drift_by_more_than_its_margin() {
    let scenario = Scenario {
        hold: Hold::UntilValidity,
        faults: FaultSizes { drift_ppm: 30_000, ..FaultSizes::default() },
        ..Scenario::default()
    };
    finds(&cell("redlock", "clock-drift", scenario), Kind::Overlap);
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn redlock_survives_clocks_that_drift_by_no_more_than_its_margin() {
    let scenario = Scenario {
        hold: Hold::UntilValidity,
        faults: FaultSizes { drift_ppm: 10_000, ..FaultSizes::default() },
        ..Scenario::default()
    };
    never(&cell("redlock", "clock-drift", scenario), &[Kind::Overlap]);
}

#[test]
fn redlock_cannot_stop_a_write_that_arrives_late() {
    finds(&under("redlock", "storage-delay"), Kind::StaleWrite);
}

#[test]
fn fencing_stops_a_write_that_arrives_late() {
    never(&under("fencing", "storage-delay"), HARM);
}

#[test]
fn fencing_lets_belief_overlap_but_nothing_is_harmed() {
    let cell = under("fencing", "pause");
    finds(&cell, Kind::Overlap);
    for kind in HARM {
        assert_eq!(cell.violations_by_kind.get(kind), None, "{kind}");
    }
}

#[test]
fn fencing_loses_its_counter_to_a_failover() {
    let cell = under("fencing", "failover");
    let lost = [HARM, &[Kind::TokenRegression]].concat();
    assert!(
        lost.iter().any(|kind| cell.violations_by_kind.contains_key(kind)),
        "the counter is lost too"
    );
}

#[test]
fn nothing_breaks_without_faults() {
    for client in ["single-node", "redlock", "fencing"] {
        let cell = under(client, "none");
        assert_eq!((cell.violated, cell.unknown), (0, 0), "{client} x none");
    }
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn every_lock_is_free_again_after_every_fault() {
    let faults: Vec<&str> = FAMILIES.iter().map(|family| family.name()).collect();
    for cell in cells(&["single-node", "redlock", "fencing"], &faults, Scenario::default()) {
        assert_eq!(cell.violations_by_kind.get(&Kind::Stuck), None, "{}", name(&cell));
    }
}
