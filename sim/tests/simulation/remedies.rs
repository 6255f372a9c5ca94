//! What reports say of remedies is so: whoever replays the run with the safeguard finds it.

use fencepost::diagnosis::{Extent, Rates, SAFEGUARDS, Trials};
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_clients::find;
use fencepost_faults::Seed;
use fencepost_reports::summary::report::{OnThisPlan, Remedy};
use fencepost_reports::{Kind, Verdict, Violation, judge};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Cells in which something breaks; together all families that break anything.
const CELLS: &[(&str, &str)] = &[
    ("single-node", "pause"),
    ("single-node", "replication-lag"),
    ("single-node", "failover"),
    ("watchdog", "clock-drift"),
    ("single-node", "clock-jump"),
    ("single-node", "restart"),
    ("set-ex-del", "partition"),
    ("set-ex-del", "lost-reply"),
    ("redlock", "latency"),
    ("single-node", "storage-delay"),
    ("single-node", "suspend"),
    ("setnx", "client-crash"),
    ("set-ex-del", "slow-server"),
    ("redlock", "eviction"),
    ("redlock", "restart"),
    ("fencing", "failover"),
    ("setnx-expire", "none"),
    ("single-node", "all"),
    ("redlock", "all"),
    ("fencing", "all"),
];
/// The first seed of each cell, and how many seeds are searched for violations.
const SEEDS: std::ops::Range<u64> = 1_000_000..1_000_040;
/// How many violations of a cell are looked at. All cells together: 100 at least.
const PER_CELL: usize = 8;
const PER_RUN: usize = 2;

fn spec(client: &str, fault: &str, seed: u64) -> RunSpec {
    let scenario = Rc::new(Scenario::default());
    RunSpec::draw(Seed(seed), find(client).unwrap(), &fault.parse().unwrap(), scenario)
}

fn violations(spec: &RunSpec) -> Vec<Violation> {
    judge(&spec.run(Engine::Fast).unwrap().history).violations
}

/// The run again with the safeguard that a report names.
fn guarded(spec: &RunSpec, remedy: &Remedy) -> RunSpec {
    let named = SAFEGUARDS.iter().filter(|safeguard| safeguard.name == remedy.name);
    let mut specs = named.filter_map(|safeguard| {
        let guarded = safeguard.on(spec)?;
        (safeguard.parameter(&guarded) == remedy.setting).then_some(guarded)
    });
    specs.next().unwrap()
}

/// Whether what is said of this plan is so; told by the whole run alone.
fn check(spec: &RunSpec, kind: Kind, remedy: &Remedy) -> OnThisPlan {
    let judgement = judge(&guarded(spec, remedy).run(Engine::Fast).unwrap().history);
    let broken = judgement.violations.iter().any(|one| one.kind == kind);
    let known = !matches!(judgement.verdict, Verdict::Unknown { .. });
    let name = format!("{} {} seed {} {kind}", spec.client.name, spec.families, spec.seed);
    match remedy.on_this_plan {
        OnThisPlan::StillThere => assert!(broken, "{name}: {remedy:?}"),
        OnThisPlan::Gone => assert!(!broken && known, "{name}: {remedy:?}"),
        OnThisPlan::NotComparable => assert!(!broken, "{name}: {remedy:?}"),
    }
    remedy.on_this_plan
}

/// What is said of the remedies of some violations of a cell, each looked at.
fn looked_at((client, fault): &(&str, &str)) -> Vec<(usize, Vec<OnThisPlan>)> {
    let mut found = Vec::new();
    for seed in SEEDS {
        let spec = spec(client, fault, seed);
        let violations = violations(&spec);
        if violations.is_empty() || found.len() >= PER_CELL {
            continue;
        }
        let extent = Extent { nearby: 0, seeds: 0 };
        let trials = Trials::new(&spec, &Rates::default(), extent);
        for violation in violations.iter().take(PER_RUN) {
            let remedies = trials.remedies(violation);
            let said = remedies.iter().map(|remedy| check(&spec, violation.kind, remedy)).collect();
            found.push((remedies.len(), said));
        }
    }
    found
}

#[test]
#[ignore = "long: .ci/run runs it"]
fn replays_every_remedy_of_100_violations_and_finds_every_on_this_plan_true() {
    let found: Vec<_> = CELLS.par_iter().flat_map(looked_at).collect();
    assert!(found.len() >= 100, "only {} violations", found.len());
    let said: BTreeSet<OnThisPlan> = found.iter().flat_map(|(_, said)| said.clone()).collect();
    assert_eq!(said.len(), 3, "each of the three is said of something: {said:?}");
}

#[test]
fn whoever_runs_the_other_seeds_counts_what_the_report_says() {
    let spec = spec("single-node", "restart", 2);
    let extent = Extent { nearby: 3, seeds: 6 };
    let rates = Rates::default();
    let trials = Trials::new(&spec, &rates, extent);
    let violation = &violations(&spec)[0];
    let remedies = trials.remedies(violation);
    let lease = remedies.iter().find(|remedy| remedy.name == "lease").unwrap();
    assert_eq!((lease.seeds, lease.nearby.plans, lease.setting.as_str()), (6, 3, "40s"));
    let broken = |ttl: &str| {
        let scenario = Rc::new(Scenario { ttl: ttl.parse().unwrap(), ..Scenario::default() });
        let seeds = lease.seeds_from.0..lease.seeds_from.0 + lease.seeds;
        let runs = seeds.map(|seed| {
            let plan = self::spec("single-node", "restart", seed).plan;
            let drawn = RunSpec::draw(Seed(seed), spec.client, &spec.families, scenario.clone());
            // The plan is that of the lease that was asked for first.
            RunSpec { plan, ..drawn }
        });
        runs.filter(|run| violations(run).iter().any(|one| one.kind == violation.kind)).count()
            as u64
    };
    assert_eq!((lease.broken_without, lease.broken_with), (broken("10s"), broken("40s")));
    // A run whose own seed is one of the others is not counted as another.
    let own = self::spec("single-node", "restart", lease.seeds_from.0);
    assert!(Trials::new(&own, &rates, extent).remedies(violation).iter().all(|one| one.seeds == 6));
}

/// Four processes that split the votes of five masters, again and again.
fn split_votes() -> RunSpec {
    let settings = "processes = 4\ncycles = 3\nhold = '10ms'\nthink = '0us'\nlatency = '2ms'\n\
         retry = '50ms'\nmasters-order = 'rotated'";
    let scenario: Scenario = toml::from_str(settings).unwrap();
    let none = "none".parse().unwrap();
    RunSpec::draw(Seed(0), find("redlock").unwrap(), &none, Rc::new(scenario))
}

#[test]
fn a_run_in_which_nobody_gets_the_lock_is_no_remedy() {
    let spec = split_votes();
    let stuck = violations(&spec).remove(0);
    let trials = Trials::new(&spec, &Rates::default(), Extent { nearby: 0, seeds: 0 });
    let remedies = trials.remedies(&stuck);
    let lease = remedies.iter().find(|remedy| remedy.name == "lease").unwrap();
    // With a longer lease the bound is longer too, but the processes use up their attempts in vain
    // as before.
    let history = guarded(&spec, lease).run(Engine::Fast).unwrap().history;
    assert!(judge(&history).violations.iter().any(|one| one.kind == stuck.kind));
    assert_eq!(lease.on_this_plan, OnThisPlan::StillThere);
    let delay = remedies.iter().find(|remedy| remedy.name == "random-retry-delay").unwrap();
    assert_eq!(delay.on_this_plan, OnThisPlan::Gone);
}
