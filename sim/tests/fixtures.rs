//! The first seed of every cell that must be found, pinned: its plan, its witness, its digest. A change of what a seed means, or of what a lock or a
//! server does, shows here; so does a build profile or a machine on which a run is not the same.

use fencepost::scenario::Hold;
use fencepost::verdicts::Findings;
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_faults::{Families, Seed};
use fencepost_reports::Kind;
use std::rc::Rc;

/// Runs a pinned seed and snapshots what of it must never change by accident.
fn check(client: &str, fault: &str, seed: u64, kind: Kind, scenario: Scenario) {
    let families: Families = fault.parse().unwrap();
    let definition = fencepost_clients::find(client).unwrap();
    let spec = RunSpec::draw(Seed(seed), definition, &families, Rc::new(scenario));
    let outcome = spec.run(Engine::Fast).unwrap();
    let report = Findings { spec: &spec, outcome: &outcome }.report();
    let found = report.violations.iter().find(|report| report.violation.kind == kind);
    let violation = &found.unwrap_or_else(|| panic!("{client} x {fault}, seed {seed}: no {kind}")).violation;
    let fixture = serde_json::json!({
        "digest": report.history_digest,
        "plan": report.plan,
        "cause": violation.cause,
        "summary": violation.summary,
        "witness": violation.witness,
    });
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_json_snapshot!(format!("{client}-{fault}-{seed}-{kind}"), fixture);
    });
}

fn default() -> Scenario {
    Scenario::default()
}

#[test]
fn single_node_under_pauses() {
    check("single-node", "pause", 1, Kind::Overlap, default());
    check("single-node", "pause", 1, Kind::StaleWrite, default());
}

#[test]
fn single_node_under_failovers() {
    check("single-node", "failover", 2, Kind::Overlap, default());
}

#[test]
fn single_node_under_restarts() {
    check("single-node", "restart", 0, Kind::Overlap, default());
}

#[test]
fn single_node_under_clock_jumps() {
    check("single-node", "clock-jump", 0, Kind::Overlap, default());
}

#[test]
fn redlock_under_pauses_and_suspensions() {
    check("redlock", "pause", 0, Kind::Overlap, default());
    check("redlock", "pause", 6, Kind::StaleWrite, default());
    check("redlock", "suspend", 0, Kind::LostUpdate, default());
}

#[test]
fn redlock_under_restarts() {
    check("redlock", "restart", 2, Kind::Overlap, default());
}

#[test]
fn redlock_under_clock_jumps() {
    check("redlock", "clock-jump", 5, Kind::Overlap, default());
}

#[test]
fn redlock_under_clock_drift() {
    let scenario = Scenario { hold: Hold::UntilValidity, ..default() };
    check("redlock", "clock-drift", 1, Kind::Overlap, scenario);
}

#[test]
fn redlock_under_storage_delay() {
    check("redlock", "storage-delay", 2, Kind::StaleWrite, default());
}

#[test]
fn fencing_under_pauses() {
    check("fencing", "pause", 1, Kind::Overlap, default());
}

#[test]
fn fencing_under_failovers() {
    check("fencing", "failover", 0, Kind::TokenRegression, default());
}
