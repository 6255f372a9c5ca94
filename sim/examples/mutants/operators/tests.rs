use super::*;
use fencepost::engine::Engine;
use fencepost::run::{RunOutcome, RunSpec};
use fencepost::setup::scenario::{Scenario, Strategy};
use fencepost_clients::{CLIENTS, find};
use fencepost_faults::Seed;
use fencepost_reports::{Kind, judge};
use std::collections::BTreeSet;

fn outcome(lock: &str, planted: Option<&'static str>, engine: Engine) -> RunOutcome {
    let named = |name| operators().find(|one| one.name == name).map(mutant).unwrap();
    let mutant = planted.map(named);
    let scenario =
        Scenario { cycles: 6, strategy: Strategy::Uniform, mutant, ..Scenario::default() };
    let families = "none".parse().unwrap();
    let spec = RunSpec::draw(Seed(0), find(lock).unwrap(), &families, Rc::new(scenario));
    spec.run(engine).unwrap()
}

fn rules_broken(lock: &str, mutant: Option<&'static str>) -> BTreeSet<Kind> {
    let outcome = outcome(lock, mutant, Engine::Fast);
    assert_eq!(outcome.altered > 0, mutant.is_some(), "{lock} {mutant:?}");
    judge(&outcome.history).violations.iter().map(|violation| violation.kind).collect()
}

#[test]
fn every_operator_has_a_name_of_its_own_and_a_lock_that_it_fits() {
    let names: BTreeSet<&str> = operators().map(|operator| operator.name).collect();
    assert_eq!(names.len(), operators().count());
    for operator in operators() {
        assert!(CLIENTS.iter().any(|lock| operator.fits(lock)), "{}", operator.name);
    }
}

#[test]
fn a_mistake_breaks_a_rule_that_the_lock_keeps() {
    for (lock, mistake) in [
        ("single-node", "nx-dropped"),
        ("redlock", "refusal-read-as-grant"),
        ("memcached-cas", "add-is-set"),
        ("curator-mutex", "own-node-first"),
        ("jdbc-7", "expiry-not-looked-at"),
        ("pg-advisory", "false-read-as-true"),
        ("etcd-mutex", "nobody-in-front"),
        ("chubby", "ch-waiting-read-as-acquired"),
        ("gemfire-lease", "gf-lease-tenth"),
    ] {
        assert_eq!(rules_broken(lock, None), BTreeSet::new(), "{lock}");
        assert!(rules_broken(lock, Some(mistake)).contains(&Kind::Overlap), "{lock} {mistake}");
    }
}

#[test]
fn a_mistake_makes_the_same_history_in_both_engines() {
    for mistake in ["refusal-read-as-grant", "release-unsent", "clock-doubled"] {
        let [fast, turmoil] = [Engine::Fast, Engine::Turmoil]
            .map(|engine| outcome("single-node", Some(mistake), engine));
        assert_eq!(fast.history, turmoil.history, "{mistake}");
        assert_eq!(fast.altered, turmoil.altered, "{mistake}");
    }
}

#[test]
fn an_edit_keeps_the_length_and_what_is_not_there_is_left() {
    let edits = &[(" FOR UPDATE", "")];
    assert_eq!(
        wire::edited(b"SELECT 1 FOR UPDATE\0", edits),
        wire::Heard::Instead(b"SELECT 1           \0".to_vec())
    );
    assert_eq!(wire::edited(b"SELECT 1", edits), wire::Heard::AsItIs);
}
