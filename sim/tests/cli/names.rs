//! Names in reports: `list`, `explain`, and the completion scripts.

use crate::answer::fencepost;
use fencepost_faults::FAMILIES;
use fencepost_reports::{Cause, Kind};

#[test]
fn every_rule_cause_and_family_is_explained() {
    let kinds = Kind::ALL.iter().map(|kind| kind.name());
    let names = kinds.chain(Cause::ALL.iter().map(|cause| cause.name()));
    for name in names.chain(FAMILIES.iter().map(|family| family.name())) {
        let answer = fencepost(&["explain", name]);
        assert_eq!(answer.status, 0, "{name}: {}", answer.stderr);
        assert!(answer.stdout.starts_with(&format!("{name}: ")), "{}", answer.stdout);
        assert!(answer.stdout.contains("\n  what   "), "{}", answer.stdout);
        let wide = answer.stdout.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None, "{name}");
    }
}

#[test]
fn a_name_that_is_a_rule_and_a_cause_is_explained_as_both() {
    let answer = fencepost(&["explain", "foreign-release"]);
    assert!(answer.stdout.contains("foreign-release: a rule that can be broken (hazard)"));
    assert!(answer.stdout.contains("foreign-release: a cause"));
    assert!(answer.stdout.contains("docs/gallery/foreign-release.md"));
}

#[test]
fn an_unknown_name_is_told_in_one_line() {
    let answer = fencepost(&["explain", "split-brian"]);
    assert_eq!(answer.status, 2);
    assert_eq!(answer.stdout, "");
    assert!(answer.stderr.contains("(did you mean 'split-brain'?)"), "{}", answer.stderr);
    assert_eq!(answer.stderr.lines().count(), 1);
}

#[test]
fn a_bare_list_names_everything() {
    let answer = fencepost(&["list"]);
    assert_eq!(answer.status, 0);
    for part in ["clients\n", "\nfaults\n", "  single-node  ", "  failover "] {
        assert!(answer.stdout.contains(part), "{part:?}: {}", answer.stdout);
    }
    let json = fencepost(&["list", "--format", "json"]).stdout;
    let lists: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(lists["clients"][0]["name"], "single-node");
}

#[test]
fn completions_offer_locks_faults_and_formats() {
    for shell in ["bash", "zsh", "fish"] {
        let script = fencepost(&["completions", shell]).stdout;
        for name in ["redlock-parallel", "clock-drift", "perfetto", "oversold"] {
            assert!(script.contains(name), "{shell} does not offer {name}");
        }
    }
}
