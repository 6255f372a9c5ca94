use crate::answer::{fencepost, fencepost_in};
use crate::drawn::{drawn, facts, history};
use crate::pinned::PINNED;
use crate::schema::satisfies;
use fencepost::diagnosis::{Target, diagnose, minimise};
use fencepost::{RunSpec, Scenario};
use fencepost_faults::{FaultPlan, Node, SimTime, magnitudes, with_magnitude};
use fencepost_reports::summary::report::OnThisPlan;
use fencepost_reports::{History, Kind, RunReport, Stages, Violation, What, judge};
use rayon::prelude::*;
use std::rc::Rc;
use std::sync::OnceLock;

const FIXTURES: &[Fixture] = &[
    ("single-node", "failover", 7),
    ("single-node", "pause", 1),
    ("single-node", "restart", 4),
    ("single-node", "storage-delay", 6),
    ("single-node", "all", 4),
    ("redlock", "restart", 3),
    ("redlock", "storage-delay", 13),
    ("redlock", "eviction", 5),
    ("fencing", "restart", 3),
    ("fencing", "all", 4),
];

fn spec((client, fault, seed): Fixture) -> RunSpec {
    drawn(client, fault, seed, Scenario::default())
}

fn target(violation: &Violation) -> Target {
    Target { kind: violation.kind, cause: violation.cause }
}

type Fixture = (&'static str, &'static str, u64);

fn diagnoses() -> &'static [(Fixture, RunReport)] {
    static DIAGNOSES: OnceLock<Vec<(Fixture, RunReport)>> = OnceLock::new();
    DIAGNOSES.get_or_init(|| {
        FIXTURES.par_iter().map(|fixture| (*fixture, diagnosis(*fixture))).collect()
    })
}

fn diagnosis(fixture: Fixture) -> RunReport {
    let spec = spec(fixture);
    let mut facts = facts(&spec);
    assert!(!facts.violations.is_empty(), "{fixture:?} is no fixture: nothing is violated");
    facts.violations.truncate(2);
    Stages { diagnosis: diagnose(&spec, &facts), ..facts.into() }.into()
}

struct Shown {
    name: String,
    target: Target,
    spec: RunSpec,
}

fn minimal_of((fixture, run): &(Fixture, RunReport)) -> impl Iterator<Item = Shown> {
    run.violations.iter().map(move |violation| {
        let (plan, minimal) =
            (violation.minimal_plan.clone().unwrap(), violation.minimal_run.as_ref().unwrap());
        assert!(minimal.complete, "{fixture:?}: {} runs were not enough", minimal.searched_runs);
        let (processes, cycles) = (minimal.processes, minimal.cycles);
        let whole = spec(*fixture);
        let scenario = Rc::new(Scenario { processes, cycles, ..(*whole.scenario).clone() });
        let name = format!("{fixture:?} {}", violation.violation.kind);
        Shown {
            name,
            target: target(&violation.violation),
            spec: RunSpec { plan, scenario, ..whole },
        }
    })
}

fn minimal_of_pinned(pinned: &crate::pinned::Pinned) -> Shown {
    let (spec, name) = (pinned.spec(), format!("{pinned:?}"));
    let run = facts(&spec);
    let target =
        run.violations.iter().map(target).find(|target| target.kind == pinned.kind).unwrap();
    let minimal = minimise(&spec, target).unwrap();
    assert!(minimal.complete, "{name}: {} runs were not enough", minimal.calls);
    Shown { name, target, spec: minimal.spec }
}

fn assert_locally_minimal(Shown { name, target, spec }: &Shown) {
    assert!(target.is_shown_by(spec), "{name}");
    let with = |plan: FaultPlan| RunSpec { plan, ..spec.clone() };
    for (index, timed) in spec.plan.faults.iter().enumerate() {
        let mut without = spec.plan.clone();
        without.faults.remove(index);
        assert!(!target.is_shown_by(&with(without)), "{name}: fault {} can go", timed.id);
        for (magnitude, value) in magnitudes(&timed.fault) {
            if value.unsigned_abs() >= magnitude.step() {
                let less = value - value.signum() * magnitude.step() as i64;
                let mut plan = spec.plan.clone();
                plan.faults[index].fault = with_magnitude(&timed.fault, magnitude, less);
                assert!(
                    !target.is_shown_by(&with(plan)),
                    "{name}: {magnitude:?} of fault {} can be less",
                    timed.id
                );
            }
        }
    }
    if spec.scenario.cycles > 1 {
        let scenario = Scenario { cycles: spec.scenario.cycles - 1, ..(*spec.scenario).clone() };
        let fewer = RunSpec { scenario: Rc::new(scenario), ..spec.clone() };
        assert!(!target.is_shown_by(&fewer), "{name}: one cycle can go");
    }
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn a_minimal_run_shows_the_violation_and_any_less_of_it_does_not() {
    diagnoses().par_iter().for_each(|diagnosis| {
        minimal_of(diagnosis).for_each(|shown| assert_locally_minimal(&shown))
    });
    PINNED.par_iter().for_each(|pinned| assert_locally_minimal(&minimal_of_pinned(pinned)));
}

#[test]
fn minimal_plans_are_small() {
    let sizes: Vec<usize> =
        diagnoses().iter().flat_map(minimal_of).map(|shown| shown.spec.plan.faults.len()).collect();
    let small = sizes.iter().filter(|size| **size <= 2).count();
    assert!(
        small * 10 >= sizes.len() * 8,
        "at least four in five have one or two faults: {sizes:?}"
    );
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn a_diagnosis_comes_out_the_same_twice() {
    for (fixture, run) in &diagnoses()[2..5] {
        assert_eq!(*run, diagnosis(*fixture), "{fixture:?}");
    }
}

#[test]
fn every_fault_of_a_minimal_plan_is_a_cause() {
    for (_, run) in diagnoses() {
        for violation in &run.violations {
            let singles = violation.but_for.iter().filter(|cause| cause.and_fault.is_none());
            assert_eq!(
                singles.clone().count(),
                violation.minimal_plan.as_ref().unwrap().faults.len()
            );
            assert!(
                singles.into_iter().all(|cause| !cause.violation_without_it),
                "{:?}",
                violation.but_for
            );
        }
    }
}

fn with_swap(spec: &RunSpec, swap: &fencepost_faults::TimedFault) -> RunSpec {
    let others = spec.plan.faults.iter().filter(|timed| timed.id != swap.id).cloned();
    RunSpec { plan: FaultPlan::new(others.chain([swap.clone()]).collect()), ..spec.clone() }
}

fn until(begins: SimTime, history: &History) -> Vec<(SimTime, Node)> {
    let probe = |what: &What| {
        matches!(
            what,
            What::Server { by: Some(Node::Probe), .. } | What::Storage { by: Node::Probe, .. }
        )
    };
    let events = history.events.iter().take_while(|event| event.time_us < begins);
    let others = events.filter(|event| event.node != Node::Probe && !probe(&event.what));
    others.map(|event| (event.time_us, event.node)).collect()
}

#[test]
fn whoever_makes_two_events_change_places_finds_what_the_report_says() {
    let (mut necessary, mut others) = (0, 0);
    let reports = diagnoses().iter().flat_map(|(_, run)| &run.violations);
    for (Shown { name, target, spec }, report) in
        diagnoses().iter().flat_map(minimal_of).zip(reports)
    {
        let recorded = history(&spec);
        for pair in &report.necessary_order {
            let (first, then) = (&pair.first, &pair.then);
            assert!(first.sequence < then.sequence, "{name}: {pair:?}");
            for step in [first, then] {
                let event = &recorded.events[step.sequence as usize];
                assert_eq!(
                    (event.time_us, event.node),
                    (step.time_us, step.process),
                    "{name}: {pair:?}"
                );
            }
            let swapped = history(&with_swap(&spec, &pair.swap));
            let broken =
                judge(&swapped).violations.iter().any(|violation| violation.kind == target.kind);
            assert_eq!(broken, pair.violation_if_swapped, "{name}: {pair:?}");
            let acts_from = pair.swap.at_us.min(first.time_us);
            assert_eq!(
                until(acts_from, &recorded),
                until(acts_from, &swapped),
                "{name}: the same until then: {pair:?}"
            );
            if broken { others += 1 } else { necessary += 1 }
        }
    }
    assert!(necessary >= 20 && others >= 5, "{necessary} pairs are necessary, {others} are not");
}

#[test]
fn a_paused_holder_must_leave_after_the_next_one_was_let_in() {
    let (_, run) = diagnoses()
        .iter()
        .find(|((client, fault, _), _)| (*client, *fault) == ("single-node", "pause"))
        .unwrap();
    let overlap =
        run.violations.iter().find(|report| report.violation.kind == Kind::Overlap).unwrap();
    let order: Vec<String> = overlap
        .necessary_order
        .iter()
        .map(|pair| format!("{} < {}", pair.first, pair.then))
        .collect();
    let expected =
        "client-1 is granted the lock < client-3 leaves its critical section, but its release fails"
            .to_owned();
    assert!(order.contains(&expected), "{order:#?}");
}

#[test]
fn what_arithmetic_demands_is_never_more_than_what_runs_find() {
    let mut bounds = 0;
    for (fixture, run) in diagnoses() {
        for violation in &run.violations {
            let Some(boundary) = &violation.boundary else { continue };
            let Some(analytic) = boundary.analytic else { continue };
            bounds += 1;
            let demanded = match boundary.quantity.as_str() {
                "down_us" => boundary.enough <= analytic,
                _ => {
                    analytic.abs() <= boundary.enough.abs()
                        && analytic.signum() * boundary.enough.signum() >= 0
                }
            };
            assert!(demanded, "{fixture:?} {}: {boundary:?}", violation.violation.summary);
        }
    }
    assert!(bounds >= 5, "only {bounds} boundaries have an analytic bound");
}

#[test]
fn fencing_never_lets_more_stale_writes_through_and_does_not_end_overlaps() {
    // Excludes failovers, because both primaries issue the same tokens in a split brain.
    let counts_once =
        |(client, fault, _): &(&str, &str, u64)| *client == "single-node" && *fault != "failover";
    let mut told = 0;
    for (fixture, run) in diagnoses().iter().filter(|(fixture, _)| counts_once(fixture)) {
        for violation in &run.violations {
            let fencing =
                violation.remedies.iter().find(|remedy| remedy.name == "fencing").unwrap();
            if violation.violation.kind == Kind::StaleWrite {
                // A restart also resets the token counter, so tokens may not help after a restart.
                let forgets = fixture.1 == "restart";
                assert!(forgets || fencing.on_this_plan != OnThisPlan::StillThere, "{fixture:?}");
                assert!(fencing.broken_with <= fencing.broken_without, "{fixture:?} {fencing:?}");
                told += 1;
            }
        }
    }
    assert!(told >= 2, "only {told} stale writes were looked at");
}

#[test]
fn a_restart_delayed_beyond_the_lease_is_quieter_than_an_early_one() {
    let (_, run) = &diagnoses()[2];
    for violation in &run.violations {
        let tried = |name: &str| {
            violation.remedies.iter().find(|remedy| remedy.name == name).unwrap().clone()
        };
        let (delayed, lease) = (tried("delayed-restart"), tried("lease"));
        let kind = violation.violation.kind;
        // A longer downtime changes the drawn crashes, so only the rates are comparable.
        assert_eq!(delayed.on_this_plan, OnThisPlan::NotComparable, "{kind}");
        assert_eq!((delayed.nearby.plans, delayed.nearby.broken), (20, 0), "{kind}");
        assert_eq!((delayed.seeds, delayed.broken_with), (50, 0), "{kind}");
        assert_eq!(lease.on_this_plan, OnThisPlan::StillThere, "{kind}");
        assert_eq!(lease.broken_without, delayed.broken_without, "the rates are shared");
    }
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn a_report_validates_replays_and_can_be_shrunk_later() {
    let folder = tempfile::tempdir().unwrap();
    for (client, fault, seed) in
        [("single-node", "restart", "4"), ("redlock", "storage-delay", "13")]
    {
        let options = ["--seed", seed, "--client", client, "--fault", fault, "--format", "json"];
        let whole = fencepost(&options);
        let json = whole.json();
        satisfies("report", &json);
        assert!(json["runs"][0]["violations"][0]["minimal_plan"]["faults"].is_array());
        std::fs::write(folder.path().join("whole.json"), &whole.stdout).unwrap();
        let replayed =
            fencepost_in(folder.path(), &["replay", "whole.json", "--minimal", "--format", "json"]);
        assert_eq!((replayed.status, replayed.stderr.as_str()), (1, ""));
        let replayed = replayed.json();
        let violations = json["runs"][0]["violations"].as_array().unwrap();
        assert_eq!(replayed["runs"].as_array().unwrap().len(), violations.len());
        for (run, violation) in replayed["runs"].as_array().unwrap().iter().zip(violations) {
            assert_eq!(run["history_digest"], violation["minimal_run"]["history_digest"]);
        }
        let bare = fencepost(&[&options[..], &["--no-shrink"]].concat());
        assert!(
            bare.stdout.contains("\"minimal_plan\": null"),
            "--no-shrink leaves plans as they are"
        );
        std::fs::write(folder.path().join("bare.json"), &bare.stdout).unwrap();
        let shrunk = fencepost_in(folder.path(), &["shrink", "bare.json", "--format", "json"]);
        assert_eq!(
            shrunk.stdout, whole.stdout,
            "shrinking later gives the same report: {}",
            shrunk.stderr
        );
    }
}

#[test]
fn a_minimal_plan_that_was_edited_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let whole = fencepost(&[
        "--seed", "4", "--client", "single-node", "--fault", "restart", "--format", "json",
    ]);
    let mut json = whole.json();
    json["runs"][0]["violations"][0]["minimal_plan"]["faults"] = serde_json::json!([]);
    std::fs::write(folder.path().join("edited.json"), json.to_string()).unwrap();
    let replayed = fencepost_in(folder.path(), &["replay", "edited.json", "--minimal"]);
    assert_eq!(replayed.status, 2);
    assert!(replayed.stderr.contains("the replayed history has the digest"), "{}", replayed.stderr);
}
