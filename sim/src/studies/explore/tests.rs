use super::certificate::{Checked, Extent, certificate, check, chosen, parts_of};
use crate::engine::Engine;
use crate::run::Recording;
use crate::setup::scenario::{Scenario, Timing};
use crate::setup::span::{Span, SpanRange};
use crate::studies::explore::plan::base::{Base, bases};
use crate::studies::explore::plan::bounds::{Bounds, Grain, small_scenario};
use crate::studies::explore::plan::place::{Origin, Planned, all_sites, boundaries};
use crate::studies::explore::plan::rule::Rule;
use crate::studies::explore::plan::scout::{Scout, scout};
use crate::studies::explore::plan::site::Site;
use crate::studies::explore::plan::validate::InvalidBounds;
use crate::studies::explore::run::ledger::Ledger;
use crate::studies::explore::run::trial::trial;
use crate::studies::explore::run::work::{Answer, Exploration, Progress};
use crate::studies::sweep::Stop;
use fencepost_clients::{Definition, find};
use fencepost_faults::setting::FailoverBy;
use fencepost_faults::{
    Family, Fault, FaultKind, FaultPlan, Micros, Node, Seed, SimTime, TimedFault,
};
use fencepost_reports::documents::certificate::Certificate;
use fencepost_reports::summary::sweep::Shard;
use fencepost_reports::{Verdict, What, judge};
use std::collections::BTreeSet;

mod claims;
mod cuts;
mod late;
mod models;
mod orders;
mod shards;

struct Silent;

impl Progress for Silent {
    fn run_done(&self, _: bool) {}
}

fn bounds(client: &str, fault: &str, faults: u8) -> Bounds {
    let fixed = SpanRange::new(Span::millis(1), Span::millis(1));
    let scenario = Scenario {
        timing: Timing { latency: fixed, ..small_scenario().timing },
        ..small_scenario()
    };
    Bounds {
        client: find(client).expect("the lock is in the table"),
        families: fault.parse().expect("families"),
        faults,
        delays: 0,
        scenario,
        longest: Span::secs(15),
        grain: Grain::Coarse,
        rules: Rule::ALL.into(),
        seed: Seed(0),
    }
}

fn explored(bounds: &Bounds) -> Answer {
    let work = Exploration::new(bounds, 2, &Stop::new()).expect("it can be placed");
    let ledger = Ledger::new(work.units());
    work.explore(Shard::WHOLE, ledger, &Silent, &Stop::new()).expect("it runs")
}

#[track_caller]
fn quiet(bounds: &Bounds) -> Ledger {
    match explored(bounds) {
        Answer::Quiet(ledger) => ledger,
        other => panic!("{} under {}: {other:?}", bounds.client.name, bounds.families),
    }
}

#[track_caller]
fn counterexample(bounds: &Bounds) -> Planned {
    match explored(bounds) {
        Answer::Counterexample(planned) => planned,
        other => panic!("{} under {}: {other:?}", bounds.client.name, bounds.families),
    }
}

#[test]
fn sound_locks_have_no_counterexample() {
    for (client, fault, faults) in [
        ("single-node", "none", 0),
        ("single-node", "lost-reply", 2),
        ("single-node", "latency", 1),
        ("single-node", "client-crash", 1),
        ("redlock", "lost-reply", 1),
        ("fencing", "lost-reply", 1),
    ] {
        let bounds = bounds(client, fault, faults);
        let sum = *quiet(&bounds).sum();
        assert!(sum.valid > 0 && sum.violated == 0, "{client} under {fault}: {sum:?}");
        assert_eq!(sum.valid + sum.unknown, sum.all_runs());
        assert_eq!(sum.runs[2] > 0, faults == 2, "{sum:?}");
    }
}

#[test]
fn flawed_locks_have_a_counterexample_with_one_fault_or_none() {
    for (client, fault) in [
        ("setnx-expire", "client-crash"),
        ("set-ex-del", "pause"),
        ("single-node", "pause"),
        ("single-node", "restart"),
        ("setnx-getset-nil", "pause"),
        ("redlock-no-validity-check", "pause"),
    ] {
        let bounds = bounds(client, fault, 2);
        let planned = counterexample(&bounds);
        assert!(planned.plan.faults.len() <= 1, "{client} under {fault}: {planned:?}");
        let spec = bounds.spec(&bases(&bounds)[planned.base], planned.plan);
        assert_eq!(spec.validate(), Ok(()));
        let outcome = spec.run(Engine::Turmoil).expect("turmoil runs it too");
        assert_eq!(judge(&outcome.history).verdict, Verdict::Violated, "{client} under {fault}");
    }
}

#[test]
fn a_restart_that_forgets_breaks_redlock_and_one_that_comes_late_does_not() {
    let mut bounds = bounds("redlock", "restart", 1);
    bounds.scenario.timing.latency = SpanRange::new(Span(Micros(200)), Span::millis(2));
    let planned = counterexample(&bounds);
    assert_eq!(planned.plan.faults.len(), 1, "{planned:?}");
    bounds.scenario.timing.latency = SpanRange::new(Span::millis(1), Span::millis(1));
    bounds.scenario.faults.restart_delay = SpanRange::new(Span::secs(12), Span::secs(12));
    assert!(quiet(&bounds).sum().valid > 0);
}

#[test]
fn a_failover_loses_a_lock_and_redlock_outlives_masters_that_stay_away() {
    let planned = counterexample(&bounds("single-node", "failover", 1));
    assert_eq!(planned.level.faults, 1, "{planned:?}");
    for client in ["redlock", "etcd-mutex"] {
        let bounds = bounds(client, "failover", 1);
        let topology = bounds.scenario.topology(bounds.client, &bounds.families);
        let servers = bounds.scenario.setting(topology).servers().len();
        let gone = |site: &Site| matches!(site, Site::Fails { least: Micros(12_000_000), .. });
        let sites = all_sites(&bounds);
        assert_eq!(sites.len(), 3 * servers, "{client}: {sites:?}");
        assert!(sites.iter().all(gone), "{client}: {sites:?}");
    }
    assert!(quiet(&bounds("redlock", "failover", 1)).sum().valid > 0);
}

#[test]
fn failover_by_says_which_failures_are_placed() {
    let placed = |by: FailoverBy| {
        let mut bounds = bounds("single-node", "failover", 1);
        bounds.scenario.faults.failover_by = by;
        let sites = all_sites(&bounds).into_iter();
        sites
            .map(|site| match site {
                Site::Fails { how, .. } => how.kind(),
                other => panic!("{other:?}"),
            })
            .collect::<Vec<_>>()
    };
    let [crash, isolation, pause] =
        [FailoverBy::Crash, FailoverBy::Isolation, FailoverBy::Pause].map(placed);
    assert_eq!(crash, [FaultKind::Crash, FaultKind::PowerLoss]);
    assert_eq!(isolation, [FaultKind::Partition; 3]);
    assert_eq!(pause, [FaultKind::Pause]);
    assert_eq!(placed(FailoverBy::Drawn), [crash, pause, isolation].concat());
}

#[test]
fn a_failover_that_cannot_be_is_refused() {
    let refused = |client: &str| bounds(client, "failover", 1).validate().unwrap_err().to_string();
    assert!(refused("pg-advisory").contains("failovers by an operator"));
    assert!(refused("memcached-add").contains("'failover' does not apply to this deployment"));
    let mut both = bounds("memcached-cas", "failover+lost-reply", 1);
    assert_eq!(both.validate(), Err(InvalidBounds::NoTarget(Family::Failover)));
    both.families = "lost-reply".parse().expect("families");
    assert_eq!(both.validate(), Ok(()));
    let short = Bounds { longest: Span::secs(1), ..bounds("redlock", "failover", 1) };
    let usual = Bounds::usual_longest(short.client, &short.families, &short.scenario);
    assert_eq!(Bounds { longest: usual, ..short.clone() }.validate(), Ok(()));
    let mut brief = bounds("single-node", "failover", 1);
    brief.scenario.ttl = Span::secs(1);
    brief.longest = Bounds::usual_longest(brief.client, &brief.families, &brief.scenario);
    assert_eq!((brief.longest, brief.validate()), (Span::secs(4), Ok(())));
    let said = short.validate().unwrap_err().to_string();
    assert_eq!(said, "--longest '1s': expected at least 12s with --fault failover");
    assert_eq!(bounds("zookeeper-naive", "failover", 1).validate(), Ok(()));
}

/// The pause must outlast the remaining 1.986 s of the lease and the latency of a reply. In the
/// simulation, the shortest such pause is four quanta longer.
#[test]
fn the_shortest_pause_that_breaks_a_rule_is_what_arithmetic_leaves_of_the_lease() {
    let mut bounds = bounds("single-node", "pause", 1);
    let fixed = |micros| SpanRange::new(Span(Micros(micros)), Span(Micros(micros)));
    bounds.scenario.timing.latency = fixed(2_000);
    bounds.scenario.hold = crate::setup::scenario::Hold::Drawn(fixed(8_000_000));
    (bounds.scenario.think, bounds.scenario.calls.retry) = (fixed(1_800), fixed(1_996_100));
    let longest = |micros| Bounds { longest: Span(Micros(micros)), ..bounds.clone() };
    let quantum = bounds.scenario.timing.quantum.0.0;
    let left = 10_000_000 - 8_000_000 - 7 * 2_000 + 2_000;
    assert!(quiet(&longest(left + 3 * quantum)).sum().valid > 0);
    assert_eq!(counterexample(&longest(left + 4 * quantum)).level.faults, 1);
}

fn shown(bounds: &Bounds, base: &Base) -> BTreeSet<String> {
    let calm = FaultPlan::default();
    let scout = scout(bounds, base, &calm).expect("it runs");
    let origin = Origin { bounds, base, prefix: &calm, scout: &scout };
    let placed = all_sites(bounds).into_iter().map(|site| origin.place(&site).expect("it runs"));
    let plans: Vec<FaultPlan> = placed.flat_map(|placed| placed.plans).collect();
    plans.into_iter().flat_map(|plan| broken(bounds, base, plan)).collect()
}

fn broken(bounds: &Bounds, base: &Base, plan: FaultPlan) -> Vec<String> {
    let outcome = bounds.spec(base, plan).run(Engine::Fast).expect("it runs");
    let violations = judge(&outcome.history).violations.into_iter();
    violations.map(|one| format!("{} by {}", one.kind, one.cause)).collect()
}

#[test]
fn pruning_loses_no_violation() {
    for (client, fault, shows) in [
        ("single-node", "pause", true),
        ("set-ex-del", "lost-reply", false),
        ("set-ex-del", "latency", true),
        ("single-node", "clock-jump", true),
        ("single-node", "partition", false),
    ] {
        let pruned = bounds(client, fault, 1);
        let whole = Bounds { rules: BTreeSet::new(), ..pruned.clone() };
        let base = &bases(&pruned)[0];
        let (few, all) = (shown(&pruned, base), shown(&whole, base));
        assert_eq!(few, all, "{client} under {fault}");
        assert_eq!(!all.is_empty(), shows, "{client} under {fault}: {all:?}");
    }
}

fn windows(bounds: &Bounds, base: &Base, until: SimTime) -> Vec<(SimTime, SimTime)> {
    let quantum = bounds.scenario.timing.quantum.0;
    let mut windows: Vec<(SimTime, SimTime)> = Vec::new();
    let mut at = SimTime::ZERO;
    while at <= until {
        if !broken(bounds, base, death(at)).is_empty() {
            match windows.last_mut() {
                Some((_, end)) if *end + quantum == at => *end = at,
                _ => windows.push((at, at)),
            }
        }
        at = at + quantum;
    }
    windows
}

fn death(at_us: SimTime) -> FaultPlan {
    let fault = Fault::Crash { node: Node::Client(1), down_us: None };
    FaultPlan::new(vec![TimedFault { id: 1, at_us, fault }])
}

fn covers(places: &BTreeSet<SimTime>, windows: &[(SimTime, SimTime)]) -> bool {
    windows.iter().all(|(from, to)| places.range(*from..=*to).next().is_some())
}

#[test]
fn a_death_at_any_quantum_that_breaks_a_rule_has_a_place_and_a_place_left_out_is_noticed() {
    let bounds = bounds("setnx-expire", "client-crash", 1);
    let base = &bases(&bounds)[0];
    let calm = FaultPlan::default();
    let places = boundaries(&bounds, &calm, &scout(&bounds, base, &calm).expect("it runs"));
    let windows = windows(&bounds, base, SimTime(20_000));
    assert!(!windows.is_empty(), "a death between SETNX and EXPIRE leaves the lock forever");
    assert!(covers(&places, &windows), "{windows:?} {places:?}");
    let (from, to) = windows[0];
    let mut fewer = places;
    fewer.retain(|at| *at < from || *at > to);
    assert!(!covers(&fewer, &windows), "a place that was left out is noticed");
}

#[test]
fn every_message_and_every_event_is_a_place() {
    let bounds = bounds("redlock", "client-crash", 1);
    let base = &bases(&bounds)[1];
    let calm = FaultPlan::default();
    let places = boundaries(&bounds, &calm, &scout(&bounds, base, &calm).expect("it runs"));
    let nothing = Fault::ClockJump { node: Node::Storage, offset_us: 0 };
    let late = TimedFault { id: 1, at_us: SimTime(120_000_000), fault: nothing };
    let spec = bounds.spec(base, FaultPlan::new(vec![late]));
    let outcome = spec.run_recording(Engine::Turmoil, Recording::Wire).expect("it runs");
    let is_early = |at: &SimTime| *at < SimTime(100_000_000);
    let events = outcome.history.events.iter().map(|event| event.time_us).filter(is_early);
    let last = events.clone().max().expect("something happens");
    let trace = outcome.trace.expect("it was recorded");
    let messages = trace.messages.iter().flat_map(|one| [Some(one.sent_us), one.arrived_us]);
    let all = events.chain(messages.flatten().filter(|at| *at <= last));
    let quantum = bounds.scenario.timing.quantum.0;
    let missing = all.filter(|at| !places.contains(at) || !places.contains(&(*at + quantum)));
    assert_eq!(missing.collect::<Vec<_>>(), []);
}

#[test]
fn a_second_fault_is_placed_in_the_run_that_the_first_made() {
    let bounds = bounds("single-node", "lost-reply", 2);
    let base = &bases(&bounds)[0];
    let calm = FaultPlan::default();
    let before = boundaries(&bounds, &calm, &scout(&bounds, base, &calm).expect("it runs"));
    let reply = Fault::LostReply {
        server: Node::Redis(1),
        client: Node::Client(1),
        duration_us: Micros::from_millis(500),
    };
    let first = FaultPlan::new(vec![TimedFault { id: 1, at_us: SimTime(3_000), fault: reply }]);
    let after = boundaries(&bounds, &first, &scout(&bounds, base, &first).expect("it runs"));
    assert!(after.iter().all(|at| *at >= SimTime(3_000)), "none before the first");
    assert!(!after.is_subset(&before), "what the first fault leads to has places of its own");
}

#[test]
fn two_replies_in_a_row_can_be_lost() {
    let bounds = bounds("single-node", "lost-reply", 2);
    let base = &bases(&bounds)[0];
    let calm = FaultPlan::default();
    let calm_scout = scout(&bounds, base, &calm).expect("it runs");
    let site = &all_sites(&bounds)[0];
    let place = |prefix: &FaultPlan, scout: &Scout| {
        Origin { bounds: &bounds, base, prefix, scout }.place(site).expect("it runs").plans
    };
    let lost = |plan: &FaultPlan| {
        let outcome = bounds.spec(base, plan.clone()).run(Engine::Fast).expect("it runs");
        let fired = |what: &What| matches!(what, What::FaultBegan { .. });
        let fired = outcome.history.events.into_iter().filter(|event| fired(&event.what));
        fired.map(|event| event.time_us).collect::<Vec<_>>()
    };
    let pairs = place(&calm, &calm_scout).into_iter().flat_map(|first| {
        let scout = scout(&bounds, base, &first).expect("it runs");
        place(&first, &scout)
    });
    let soon = Micros::from_millis(100);
    let in_a_row = |lost: Vec<SimTime>| lost.len() == 2 && lost[1].since(lost[0]) < soon;
    assert!(pairs.map(|plan| lost(&plan)).any(in_a_row));
}

#[test]
fn a_certificate_comes_out_again_and_another_does_not() {
    let bounds = bounds("single-node", "lost-reply", 2);
    let work = Exploration::new(&bounds, 2, &Stop::new()).expect("it can be placed");
    let quiet = quiet(&bounds);
    let written = certificate(&bounds, &work.conditions(), &quiet);
    let checked = |certificate: &Certificate, extent| {
        check(certificate, &bounds, &work, extent, &Silent, &Stop::new()).expect("it runs")
    };
    let of = written.slices.len();
    let runs = written.runs.all;
    assert_eq!(checked(&written, Extent::Whole), Checked::Same { slices: of, of, runs });
    assert!(matches!(checked(&written, Extent::Sample), Checked::Same { slices: 2..=5, .. }));
    for place in 0..of {
        let mut other = written.clone();
        other.slices[place].digest = "0".repeat(64);
        let differs = Checked::Differs(other.slices[place].clone());
        assert_eq!(checked(&other, Extent::Whole), differs, "slice {place}");
    }
    let (mut cut, mut bold) = (written.clone(), written.clone());
    cut.slices.pop();
    bold.claim.push_str(" Never.");
    for extent in [Extent::Sample, Extent::Whole] {
        assert_eq!(checked(&cut, extent), Checked::Foreign, "{extent:?}");
        assert_eq!(checked(&bold, extent), Checked::Foreign, "{extent:?}");
    }
    let stopped = Stop::new();
    stopped.ask();
    let ended = check(&written, &bounds, &work, Extent::Sample, &Silent, &stopped);
    assert_eq!(ended, Ok(Checked::Stopped));
}

#[test]
fn a_check_places_only_the_first_faults_that_it_runs() {
    for (fault, faults) in [("lost-reply", 2), ("client-crash", 1), ("none", 0)] {
        let bounds = bounds("single-node", fault, faults);
        let whole = Exploration::new(&bounds, 2, &Stop::new()).expect("it can be placed");
        let written = certificate(&bounds, &whole.conditions(), &quiet(&bounds));
        for extent in [Extent::Sample, Extent::Whole] {
            let mut work = Exploration::unplaced(&bounds, 2);
            work.place_for(&parts_of(&written, extent), &Stop::new()).expect("it can be placed");
            let checked = |certificate: &Certificate| {
                check(certificate, &bounds, &work, extent, &Silent, &Stop::new()).expect("it runs")
            };
            let same = checked(&written);
            assert!(matches!(same, Checked::Same { .. }), "{fault}, {extent:?}: {same:?}");
            for slice in chosen(&written, extent) {
                let mut other = written.clone();
                let place = written.slices.iter().position(|one| one == slice).unwrap();
                other.slices[place].digest = "0".repeat(64);
                assert_eq!(checked(&other), Checked::Differs(other.slices[place].clone()));
            }
        }
    }
}

#[test]
fn a_survey_says_about_how_many_runs_there_will_be() {
    for (client, fault, faults) in [
        ("single-node", "none", 0),
        ("single-node", "client-crash", 1),
        ("redlock", "lost-reply", 1),
        ("single-node", "lost-reply", 2),
        ("single-node", "latency", 2),
    ] {
        let bounds = bounds(client, fault, faults);
        let mut work = Exploration::unplaced(&bounds, 2);
        let survey = work.survey(&Stop::new()).expect("it runs");
        let runs = quiet(&bounds).sum().runs;
        for (about, exact) in survey.runs.into_iter().zip(runs.map(u128::from)) {
            let is_near = about * 2 >= exact && about <= exact * 2;
            assert!(is_near, "{client} under {fault}: {survey:?}, not {runs:?}");
        }
        work.place_all(&Stop::new()).expect("it can be placed");
        let known = work.counted(&survey, Shard::WHOLE);
        let exact = if faults == 1 { survey.runs[1] } else { u128::from(runs[1]) };
        assert_eq!(known.runs[..2], [u128::from(runs[0]), exact]);
        assert_eq!(known.bytes() > 0, faults == 2, "{client} under {fault}");
    }
}

#[test]
fn a_survey_of_bounds_that_no_machine_can_finish_ends() {
    let mut bounds = bounds("redlock", "partition+pause+client-crash", 2);
    (bounds.scenario.processes, bounds.scenario.cycles) = (8, 20);
    let survey = Exploration::unplaced(&bounds, 2).survey(&Stop::new()).expect("it runs");
    assert!(survey.all_runs() > 1_000_000_000_000, "{survey:?}");
}

#[test]
fn a_trial_says_whether_it_exercised_anything() {
    let bounds = bounds("single-node", "client-crash", 1);
    let base = &bases(&bounds)[0];
    let calm = trial(&bounds, base, &FaultPlan::default()).expect("it runs");
    assert!(calm.contended && !calm.fired && calm.verdict == Verdict::Valid);
    let early = trial(&bounds, base, &death(SimTime::ZERO)).expect("it runs");
    assert!(early.fired && !early.contended, "the first process never asked");
    assert!(matches!(early.verdict, Verdict::Unknown { .. }));
}
