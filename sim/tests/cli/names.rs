use crate::answer::fencepost;
use crate::refusal::refuses;
use fencepost::diagnosis::SAFEGUARDS;
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
fn the_glossary_has_every_rule_cause_remedy_and_family_once_in_its_section() {
    let glossary = include_str!("../../../docs/glossary.md");
    let section = |title: &str| -> Vec<&str> {
        let (_, rest) = glossary.split_once(&format!("\n## {title}\n")).expect("its section");
        let part = rest.split("\n## ").next().unwrap_or_default();
        let name = |line: &'static str| line.strip_prefix("| `")?.split('`').next();
        let mut names: Vec<&str> = part.lines().filter_map(name).collect();
        names.sort_unstable();
        names
    };
    let listed = |mut names: Vec<&'static str>| -> Vec<&'static str> {
        names.sort_unstable();
        names.dedup();
        names
    };
    let rules = listed(Kind::ALL.iter().map(|kind| kind.name()).collect());
    assert_eq!(section("Rules"), rules);
    let causes = listed(Cause::ALL.iter().map(|cause| cause.name()).collect());
    assert_eq!(section("Causes"), causes);
    let remedies = listed(SAFEGUARDS.iter().map(|safeguard| safeguard.name).collect());
    assert_eq!(section("Remedies"), remedies);
    let families = listed(FAMILIES.iter().map(|family| family.name()).collect());
    assert_eq!(section("Fault families"), families);
}

#[test]
fn a_name_that_is_a_rule_and_a_cause_is_explained_as_both() {
    let answer = fencepost(&["explain", "foreign-release"]);
    assert!(answer.stdout.contains("foreign-release: a rule (hazard)"));
    assert!(answer.stdout.contains("foreign-release: a cause"));
    assert!(answer.stdout.contains("docs/gallery/foreign-release.md"));
}

#[test]
fn an_unknown_name_is_told_in_one_line() {
    refuses(&["explain", "split-brian"], &["(did you mean 'split-brain'?)"]);
}

#[test]
fn a_bare_list_names_everything() {
    let answer = fencepost(&["list"]);
    assert_eq!(answer.status, 0);
    for part in ["clients\n", "\nfaults\n", "  single-node  ", "  failover "] {
        assert!(answer.stdout.contains(part), "{part:?}: {}", answer.stdout);
    }
    let lists = fencepost(&["list", "--format", "json"]).json();
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
