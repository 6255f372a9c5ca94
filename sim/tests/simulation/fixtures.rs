use crate::drawn::facts;
use crate::pinned::{PINNED, Pinned};
use std::panic::catch_unwind;
use std::path::Path;

fn check(pinned: &Pinned) {
    let Pinned { client, fault, seed, kind, .. } = *pinned;
    let facts = facts(&pinned.spec());
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
fn every_pinned_run_is_that_of_its_snapshot() {
    let differing: Vec<&Pinned> =
        PINNED.iter().filter(|pinned| catch_unwind(|| check(pinned)).is_err()).collect();
    assert!(differing.is_empty(), "{differing:#?}");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/simulation/snapshots");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let snapshots = files.filter(|path| path.extension().is_some_and(|kind| kind == "snap"));
    assert_eq!(snapshots.count(), PINNED.len(), "a snapshot has no pinned run");
}
