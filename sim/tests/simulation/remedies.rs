use crate::anomalies::rows::coordinators::{
    alone, cut_from_the_cell, slow_and_alone, slow_and_away,
};
use crate::anomalies::rows::written::WRITTEN;
use crate::drawn::{drawn, violations};
use fencepost::diagnosis::{Extent, Rates, SAFEGUARDS, SafeguardTrials};
use fencepost::setup::scenario::{OldPrimary, Servers, Strategy};
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_reports::summary::report::{OnThisPlan, Remedy};
use fencepost_reports::{Cause, Kind, Verdict, Violation, judge};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::rc::Rc;

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
const SEEDS: std::ops::Range<u64> = 1_000_000..1_000_040;
const PER_CELL: usize = 8;
const PER_RUN: usize = 2;

fn spec(client: &str, fault: &str, seed: u64) -> RunSpec {
    drawn(client, fault, seed, Scenario::default())
}

fn guarded(spec: &RunSpec, remedy: &Remedy) -> RunSpec {
    let named = SAFEGUARDS.iter().filter(|safeguard| safeguard.name == remedy.name);
    let mut specs = named.filter_map(|safeguard| {
        let guarded = safeguard.on(spec)?;
        (safeguard.parameter(&guarded) == remedy.setting).then_some(guarded)
    });
    specs.next().unwrap()
}

fn causes(violations: &[Violation], kind: Kind) -> BTreeSet<Cause> {
    violations.iter().filter(|one| one.kind == kind).map(|one| one.cause).collect()
}

fn check(spec: &RunSpec, violation: &Violation, remedy: &Remedy) -> OnThisPlan {
    let (kind, known_causes) = (violation.kind, causes(&violations(spec), violation.kind));
    let judgement = judge(&guarded(spec, remedy).run(Engine::Fast).unwrap().history);
    let causes = causes(&judgement.violations, kind);
    let broken = causes.contains(&violation.cause) || !causes.is_subset(&known_causes);
    let known = !matches!(judgement.verdict, Verdict::Unknown { .. });
    let name = format!("{} {} seed {} {kind}", spec.client.name, spec.families, spec.seed);
    match remedy.on_this_plan {
        OnThisPlan::StillThere => assert!(broken, "{name}: {remedy:?}"),
        OnThisPlan::Gone => assert!(!broken && known, "{name}: {remedy:?}"),
        OnThisPlan::NotComparable => assert!(!broken, "{name}: {remedy:?}"),
    }
    remedy.on_this_plan
}

fn looked_at((client, fault): &(&str, &str)) -> Vec<(usize, Vec<OnThisPlan>)> {
    let mut found = Vec::new();
    for seed in SEEDS {
        let spec = spec(client, fault, seed);
        let violations = violations(&spec);
        if violations.is_empty() || found.len() >= PER_CELL {
            continue;
        }
        let extent = Extent { nearby: 0, seeds: 0 };
        let trials = SafeguardTrials::new(&spec, &Rates::default(), extent);
        for violation in violations.iter().take(PER_RUN) {
            let remedies = trials.remedies(violation);
            let said = remedies.iter().map(|remedy| check(&spec, violation, remedy)).collect();
            found.push((remedies.len(), said));
        }
    }
    found
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn replays_every_remedy_of_100_violations_and_finds_every_on_this_plan_true() {
    let found: Vec<_> = CELLS.par_iter().flat_map(looked_at).collect();
    assert!(found.len() >= 100, "only {} violations", found.len());
    let said: BTreeSet<OnThisPlan> = found.iter().flat_map(|(_, said)| said.clone()).collect();
    assert_eq!(said.len(), 3, "each of the three is said of something: {said:?}");
}

#[test]
fn whoever_runs_the_other_seeds_counts_what_the_report_says() {
    let spec = spec("single-node", "restart", 4);
    let extent = Extent { nearby: 3, seeds: 6 };
    let rates = Rates::default();
    let trials = SafeguardTrials::new(&spec, &rates, extent);
    let violation = &violations(&spec)[0];
    let remedies = trials.remedies(violation);
    let lease = remedies.iter().find(|remedy| remedy.name == "lease").unwrap();
    assert_eq!((lease.seeds, lease.nearby.plans, lease.setting.as_str()), (6, 3, "40s"));
    let broken = |ttl: &str| {
        let scenario = Rc::new(Scenario { ttl: ttl.parse().unwrap(), ..Scenario::default() });
        let seeds = lease.seeds_from.0..lease.seeds_from.0 + lease.seeds;
        let runs = seeds.map(|seed| {
            let plan = self::spec("single-node", "restart", seed).plan;
            RunSpec { plan, ..drawn("single-node", "restart", seed, scenario.clone()) }
        });
        runs.filter(|run| violations(run).iter().any(|one| one.kind == violation.kind)).count()
            as u64
    };
    assert_eq!((lease.broken_without, lease.broken_with), (broken("10s"), broken("40s")));
    let own = self::spec("single-node", "restart", lease.seeds_from.0);
    assert!(
        SafeguardTrials::new(&own, &rates, extent)
            .remedies(violation)
            .iter()
            .all(|one| one.seeds == 6)
    );
}

fn split_votes() -> RunSpec {
    let settings = "processes = 4\ncycles = 3\nhold = '10ms'\nthink = '0us'\nlatency = '2ms'\n\
         retry = '50ms'\nmasters-order = 'rotated'";
    let scenario: Scenario = toml::from_str(settings).unwrap();
    drawn("redlock", "none", 0, scenario)
}

#[test]
fn a_run_in_which_nobody_gets_the_lock_is_no_remedy() {
    let spec = split_votes();
    let stuck = violations(&spec).remove(0);
    let trials = SafeguardTrials::new(&spec, &Rates::default(), Extent { nearby: 0, seeds: 0 });
    let remedies = trials.remedies(&stuck);
    // A longer lease also raises the bound on the wait, so it only hides the violation.
    assert!(remedies.iter().all(|remedy| remedy.name != "lease"), "{remedies:?}");
    let delay = remedies.iter().find(|remedy| remedy.name == "random-retry-delay").unwrap();
    assert_eq!(delay.on_this_plan, OnThisPlan::Gone);
}

#[test]
fn a_safeguard_that_only_shifts_a_suspension_or_lets_another_fault_in_proves_nothing() {
    let tried = |client: &str, seed: u64, cause: Cause, names: &[(&str, OnThisPlan)]| {
        let spec = spec(client, "all", seed);
        let mut violations = violations(&spec).into_iter();
        let is_it = |one: &Violation| one.kind == Kind::Overlap && one.cause == cause;
        let violation = violations.find(is_it).unwrap();
        let trials = SafeguardTrials::new(&spec, &Rates::default(), Extent { nearby: 0, seeds: 0 });
        let remedies = trials.remedies(&violation);
        for (name, effect) in names {
            let remedy = remedies.iter().find(|one| one.name == *name).expect(name);
            assert_eq!(remedy.on_this_plan, *effect, "{remedy:?}");
        }
    };
    // With `delayed-restart`, the suspension hits another step.
    let late = ("delayed-restart", OnThisPlan::NotComparable);
    let longer = ("lease", OnThisPlan::Gone);
    tried("redisson-redlock", 9_700_043, Cause::HolderPause, &[late, longer]);
    // With persistence, the restart loses nothing, but a later flush lets another process in.
    let flushed = ("appendfsync", OnThisPlan::NotComparable);
    tried("setnx-expire", 9_700_061, Cause::RestartWithoutDelay, &[flushed]);
}

struct RemedyCase {
    name: &'static str,
    client: &'static str,
    fault: &'static str,
    scenario: fn() -> Scenario,
}

const fn remedy_case(
    name: &'static str,
    (client, fault): (&'static str, &'static str),
    scenario: fn() -> Scenario,
) -> RemedyCase {
    RemedyCase { name, client, fault, scenario }
}

const AGAINST: &[RemedyCase] = &[
    remedy_case("protection", ("curator-unprotected", "lost-reply"), slow_and_alone),
    remedy_case("guaranteed-delete", ("curator-unguaranteed", "restart"), slow_and_away),
    remedy_case("watches-set-again", ("zookeeper-lost-watch", "lost-reply"), alone),
    remedy_case(
        "protection-and-guaranteed-delete",
        ("zookeeper-naive", "failover"),
        Scenario::default,
    ),
];

impl RemedyCase {
    /// Uses uniform faults, because aimed faults also find the lock's other mistakes.
    fn tried(&self, fault: &str, kind: Kind, scenario: Scenario) -> Remedy {
        let scenario = Rc::new(Scenario { strategy: Strategy::Uniform, ..scenario });
        let found = (0..40).find_map(|seed| {
            let spec = drawn(self.client, fault, seed, scenario.clone());
            let shown = violations(&spec).into_iter().find(|one| one.kind == kind);
            shown.map(|violation| (spec, violation))
        });
        let (spec, violation) = found.unwrap();
        let trials =
            SafeguardTrials::new(&spec, &Rates::default(), Extent { nearby: 0, seeds: 20 });
        let remedies = trials.remedies(&violation);
        remedies.into_iter().find(|remedy| remedy.name == self.name).unwrap()
    }
}

#[test]
fn each_safeguard_of_zookeeper_keeps_nobody_from_the_lock_where_its_mistake_did() {
    for against in AGAINST {
        let remedy = against.tried(against.fault, Kind::Stuck, (against.scenario)());
        assert_ne!(remedy.on_this_plan, OnThisPlan::StillThere, "{remedy:?}");
        let [with, without] = [remedy.broken_with, remedy.broken_without];
        assert!(without > 0 && with * 4 <= without, "{remedy:?}");
    }
}

#[test]
fn a_look_up_that_knows_its_session_is_quiet_where_another_takes_a_node_that_will_go() {
    let row = &WRITTEN[0];
    let drawn = |seed| row.flawed.drawn(row.families, seed);
    let mut specs = (0..row.seeds).map(|seed| RunSpec { plan: (row.plan)(), ..drawn(seed) });
    let spec = specs.find(|spec| !violations(spec).is_empty()).unwrap();
    let trials = SafeguardTrials::new(&spec, &Rates::default(), Extent { nearby: 0, seeds: 0 });
    for violation in violations(&spec) {
        let remedies = trials.remedies(&violation);
        let remedy = remedies.iter().find(|remedy| remedy.name == "same-session").unwrap();
        assert_eq!(remedy.on_this_plan, OnThisPlan::Gone, "{remedy:?}");
    }
}

#[test]
fn each_safeguard_of_chubby_keeps_holders_apart() {
    let delay = remedy_case("lock-delay", ("chubby-no-delay", "pause"), Scenario::default);
    let leave =
        remedy_case("leave-in-jeopardy", ("chubby-no-delay", "partition"), cut_from_the_cell);
    for against in [delay, leave] {
        let remedy = against.tried(against.fault, Kind::Overlap, (against.scenario)());
        assert_eq!(remedy.on_this_plan, OnThisPlan::Gone, "{remedy:?}");
        let [with, without] = [remedy.broken_with, remedy.broken_without];
        assert!(without > 0 && with * 4 <= without, "{remedy:?}");
    }
}

#[test]
fn a_standby_that_has_every_commit_keeps_rows_and_no_locks_of_connections() {
    let safeguard = SAFEGUARDS.iter().find(|one| one.name == "synchronous-standby").unwrap();
    let broken = |client, guard: &dyn Fn(&RunSpec) -> RunSpec| {
        let drawn = (0..60).map(|seed| drawn(client, "failover", seed, stopped()));
        let overlaps =
            |spec: &RunSpec| violations(spec).iter().any(|one| one.kind == Kind::Overlap);
        drawn.filter(|spec| overlaps(&guard(spec))).count()
    };
    let without = |client| broken(client, &RunSpec::clone);
    let with = |client| broken(client, &|spec| safeguard.on(spec).unwrap());
    assert_eq!((without("shedlock-jdbc") > 0, with("shedlock-jdbc")), (true, 0));
    assert!(with("pg-advisory") * 2 > without("pg-advisory"));
    let fits = |client, fault| safeguard.on(&spec(client, fault, 0)).is_some();
    assert!(fits("jdbc-7", "failover"));
    assert!(!fits("jdbc-7", "pause") && !fits("single-node", "failover"));
}

fn stopped() -> Scenario {
    Scenario {
        servers: Servers { old_primary: OldPrimary::Stopped, ..Servers::default() },
        ..Scenario::default()
    }
}

/// A session may end while its lock is held, even in a lock without the planted mistake.
#[test]
fn none_of_these_safeguards_changes_what_a_pause_breaks() {
    let same_session =
        remedy_case("same-session", ("curator-any-session", "pause"), Scenario::default);
    for against in AGAINST.iter().chain([&same_session]) {
        let remedy = against.tried("pause", Kind::Overlap, Scenario::default());
        assert_eq!(remedy.on_this_plan, OnThisPlan::StillThere, "{remedy:?}");
        let [with, without] = [remedy.broken_with, remedy.broken_without];
        assert!(without > 0 && with.abs_diff(without) * 4 <= without, "{remedy:?}");
    }
}

#[test]
fn a_safeguard_of_zookeeper_is_tried_only_with_the_lock_that_lacks_it() {
    let names = AGAINST.iter().map(|against| against.name).chain(["same-session"]);
    let names: BTreeSet<&str> = names.collect();
    for client in
        ["curator-mutex", "curator-fencing", "kazoo-lock", "zookeeper-semaphore", "redlock"]
    {
        let spec = spec(client, "none", 0);
        let fitting = SAFEGUARDS.iter().filter(|safeguard| safeguard.on(&spec).is_some());
        let wrong: Vec<&str> =
            fitting.map(|one| one.name).filter(|it| names.contains(it)).collect();
        assert!(wrong.is_empty(), "{client}: {wrong:?}");
    }
}

#[test]
fn a_lock_without_extensions_is_compared_with_an_extended_lock_by_harm_only() {
    let names = |client: &str, kind: Kind| {
        let mut found = (0..60).map(|seed| spec(client, "pause", seed)).filter_map(|spec| {
            let shown = violations(&spec).into_iter().find(|one| one.kind == kind)?;
            Some((spec, shown))
        });
        let (spec, violation) = found.next().unwrap();
        let extent = Extent { nearby: 0, seeds: 0 };
        let remedies = SafeguardTrials::new(&spec, &Rates::default(), extent).remedies(&violation);
        remedies.into_iter().map(|one| one.name).collect::<Vec<_>>()
    };
    let fences = |client, kind| names(client, kind).contains(&"fencing".to_owned());
    assert!(!fences("lua-extend", Kind::Overlap));
    assert!(fences("lua-extend", Kind::StaleWrite));
    assert!(fences("single-node", Kind::Overlap));
}

#[test]
fn a_lock_without_the_mistake_is_a_remedy_even_if_the_run_has_another_cause_of_the_same_rule() {
    let spec = spec("etcd-mutex-unchecked", "suspend", 0);
    let all = violations(&spec);
    let overlap =
        |cause| all.iter().find(|one| (one.kind, one.cause) == (Kind::Overlap, cause)).unwrap();
    let trials = SafeguardTrials::new(&spec, &Rates::default(), Extent { nearby: 0, seeds: 0 });
    let unchecked = |cause| {
        let remedies = trials.remedies(overlap(cause));
        remedies.into_iter().find(|one| one.name == "look-for-the-key").unwrap().on_this_plan
    };
    assert_ne!(unchecked(Cause::ExpiredWaiter), OnThisPlan::StillThere);
    assert_eq!(unchecked(Cause::SessionExpired), OnThisPlan::StillThere);
}
