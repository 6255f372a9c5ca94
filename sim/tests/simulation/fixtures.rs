use crate::pinned::{PINNED, Pinned};
use fencepost::Engine;
use fencepost::run::verdicts::Findings;

fn check(client: &str, faults: &[&str]) {
    let cells: Vec<&Pinned> = PINNED
        .iter()
        .filter(|pinned| pinned.client == client && faults.contains(&pinned.fault))
        .collect();
    assert!(cells.len() >= faults.len(), "{client} x {faults:?}: something is pinned for each");
    for pinned in cells {
        check_one(pinned);
    }
}

fn check_one(pinned: &Pinned) {
    let Pinned { client, fault, seed, kind, .. } = *pinned;
    let spec = pinned.spec();
    let outcome = spec.run(Engine::Fast).unwrap();
    let facts = Findings { spec: &spec, outcome: &outcome }.facts();
    let found = facts.violations.iter().find(|found| found.kind == kind);
    let violation = found.unwrap_or_else(|| panic!("{client} x {fault}, seed {seed}: no {kind}"));
    let fixture = serde_json::json!({
        "digest": facts.history_digest,
        "plan": facts.plan,
        "cause": violation.cause,
        "summary": violation.summary,
        "witness": violation.witness,
    });
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_json_snapshot!(format!("{client}-{fault}-{seed}-{kind}"), fixture);
    });
}

#[test]
fn single_node_under_pauses() {
    check("single-node", &["pause"]);
}

#[test]
fn single_node_under_failovers() {
    check("single-node", &["failover"]);
}

#[test]
fn single_node_under_restarts() {
    check("single-node", &["restart"]);
}

#[test]
fn single_node_under_clock_jumps() {
    check("single-node", &["clock-jump"]);
}

#[test]
fn redlock_under_pauses_and_suspensions() {
    check("redlock", &["pause", "suspend"]);
}

#[test]
fn redlock_under_restarts() {
    check("redlock", &["restart"]);
}

#[test]
fn redlock_under_clock_jumps() {
    check("redlock", &["clock-jump"]);
}

#[test]
fn redlock_under_clock_drift() {
    check("redlock", &["clock-drift"]);
}

#[test]
fn redlock_under_storage_delay() {
    check("redlock", &["storage-delay"]);
}

#[test]
fn fencing_under_pauses() {
    check("fencing", &["pause"]);
}

#[test]
fn fencing_under_failovers() {
    check("fencing", &["failover"]);
}
