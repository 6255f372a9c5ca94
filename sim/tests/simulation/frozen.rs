use fencepost_faults::FaultPlan;
use fencepost_reports::documents::read::read_history;
use fencepost_reports::{Cause, History, Kind, judge, validate};
use serde_json::Value;
use std::path::PathBuf;

fn history(name: &str) -> History {
    let path: PathBuf =
        [env!("CARGO_MANIFEST_DIR"), "tests/simulation/frozen", name].iter().collect();
    let text = std::fs::read_to_string(path.with_extension("json")).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let plan: FaultPlan = serde_json::from_value(file["plan"].clone()).unwrap();
    let history = read_history(&file["history"].to_string()).unwrap();
    validate(&history).unwrap();
    assert_eq!(history.header.faults_planned as usize, plan.faults.len());
    history
}

fn found(name: &str) -> Vec<(Kind, Cause)> {
    let judgement = judge(&history(name));
    judgement.violations.iter().map(|violation| (violation.kind, violation.cause)).collect()
}

#[test]
fn an_acquisition_is_dated_by_the_grant_that_still_stood_and_not_by_one_that_was_taken_back() {
    // client-1 had released the lock before client-2 acquired it, so there is no stale write.
    assert_eq!(found("redisson-wait-failover-5000000"), []);
}

#[test]
fn a_crash_between_setnx_and_expire_is_the_textbook_bug() {
    assert_eq!(found("setnx-expire-client-crash-201"), [(Kind::Stuck, Cause::HolderCrash)]);
}

#[test]
fn two_primaries_at_once_are_a_split_brain() {
    for name in ["spring-registry-failover-5000162", "watchdog-failover-7"] {
        for (kind, cause) in found(name) {
            assert_eq!(cause, Cause::SplitBrain, "{name}: {kind}");
        }
    }
}

#[test]
fn every_frozen_violation_is_explained() {
    for name in [
        "spring-registry-failover-5000162",
        "setnx-expire-failover-6263167",
        "setnx-expire-client-crash-201",
        "watchdog-failover-7",
        "redlock-pause-6",
        "set-ex-del-pause-22",
    ] {
        let found = found(name);
        assert!(!found.is_empty(), "{name}");
        assert!(found.iter().all(|(_, cause)| *cause != Cause::Unexplained), "{name}: {found:?}");
    }
}

#[test]
fn a_lock_that_writes_the_same_for_all_is_removed_from_the_one_that_had_been_granted_it() {
    let history = history("set-ex-del-pause-22");
    let judgement = judge(&history);
    let robbed = judgement
        .violations
        .iter()
        .find(|violation| violation.kind == Kind::ForeignRelease)
        .unwrap();
    assert_ne!(robbed.processes[0], robbed.processes[1]);
    let told: Vec<&str> = robbed.narrative.iter().map(|line| line.text.as_str()).collect();
    let (remover, owner) = (robbed.processes[0], robbed.processes[1]);
    let removes = format!("removes the lock of {owner} at the request of {remover}");
    assert!(told.iter().any(|line| line.contains(&removes)), "{told:#?}");
}
