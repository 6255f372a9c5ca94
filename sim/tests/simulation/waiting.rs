mod both;
mod by_message;
mod in_order;

use crate::drawn::{drawn, drawn_of, facts};
use crate::planted::{LOCK, granted};
use fencepost::clients::owned_key::{delete_if_owned, fresh_owner, set_if_absent};
use fencepost::clients::{
    Acquisition, Algorithm, Definition, Deployment, Env, Lease, Lock, Release, Reply, Script,
    Session, Settings,
};
use fencepost::run::verdicts::FinishedRun;
use fencepost::setup::scenario::{Hold, MastersOrder, Servers, Timing};
use fencepost::setup::span::{Span, SpanRange};
use fencepost::{Engine, Scenario};
use fencepost_faults::Node;
use fencepost_reports::{Cause, Kind, RunFacts, Verdict, What};
use std::time::Duration;

fn busy() -> Scenario {
    let ms = Span::millis;
    Scenario {
        hold: Hold::Drawn(SpanRange::new(ms(1), ms(5))),
        think: SpanRange::new(ms(1), ms(4)),
        ..Scenario::default()
    }
}

fn in_step() -> Scenario {
    let ms = Span::millis;
    Scenario {
        processes: 2,
        cycles: 3,
        hold: Hold::Drawn(SpanRange::new(ms(10), ms(10))),
        think: SpanRange::new(Span::default(), Span::default()),
        servers: Servers { masters: 2, masters_order: MastersOrder::Rotated, ..Servers::default() },
        timing: Timing { latency: SpanRange::new(ms(2), ms(2)), ..Timing::default() },
        ..Scenario::default()
    }
}

fn run(client: &'static Definition, fault: &str, seed: u64, scenario: Scenario) -> RunFacts {
    facts(&drawn_of(client, fault, seed, scenario))
}

pub(super) fn shown(
    client: &'static Definition,
    seeds: u64,
    scenario: &Scenario,
) -> Vec<(Kind, Cause)> {
    let runs = (0..seeds).map(|seed| run(client, "none", seed, scenario.clone()));
    let mut shown: Vec<(Kind, Cause)> =
        runs.flat_map(|run| run.violations).map(|one| (one.kind, one.cause)).collect();
    shown.sort();
    shown.dedup();
    shown
}

pub(super) fn assert_quiet(client: &'static Definition, seeds: u64, scenario: &Scenario) {
    for seed in 0..seeds {
        let run = run(client, "none", seed, scenario.clone());
        assert_eq!(run.verdict, Verdict::Valid, "seed {seed}: {:?}", run.violations);
    }
}

#[test]
fn a_waiter_that_misses_the_message_waits_for_ever() {
    static MISSES: Definition = by_message::definition(by_message::Habit::Trusts);
    static HEARS: Definition = by_message::definition(by_message::Habit::AsksAgain);
    assert_eq!(shown(&MISSES, 10, &busy()), [(Kind::Deadlock, Cause::MissedWakeup)]);
    assert_quiet(&HEARS, 10, &busy());
}

#[test]
fn a_waiter_that_misses_the_message_and_sleeps_long_is_starved() {
    static MISSES: Definition = by_message::definition(by_message::Habit::TrustsForAMinute);
    let found = shown(&MISSES, 10, &busy());
    assert!(found.contains(&(Kind::Starved, Cause::MissedWakeup)), "{found:?}");
    assert!(found.iter().all(|(kind, _)| *kind != Kind::Deadlock), "a timer lies ahead: {found:?}");
}

#[test]
fn a_fair_lock_that_drops_the_place_of_a_live_waiter_leaves_it_waiting() {
    let found = shown(&in_order::LOSES_QUEUE_PLACE, 10, &busy());
    assert!(found.contains(&(Kind::Deadlock, Cause::MissedWakeup)), "{found:?}");
    assert_quiet(&in_order::SOUND, 10, &busy());
}

#[test]
fn a_fair_lock_that_serves_the_last_first_passes_others_over() {
    let many = Scenario { processes: 6, cycles: 60, ..busy() };
    let found = shown(&in_order::LAST_FIRST, 5, &many);
    assert_eq!(found, [(Kind::Starved, Cause::LostPlace)]);
    assert_quiet(&in_order::SOUND, 5, &many);
}

#[test]
fn two_processes_that_tie_over_two_masters_use_up_their_attempts() {
    assert_eq!(shown(&both::TIES, 5, &in_step()), [(Kind::Stuck, Cause::Interleaving)]);
    assert_quiet(&both::SETTLES, 5, &in_step());
}

#[test]
fn servers_and_sentinels_that_tick_are_nothing_that_could_wake_a_waiter() {
    // The family starts Sentinels, whose timers keep a run going until the time limit of the run.
    static MISSES: Definition = by_message::definition(by_message::Habit::Trusts);
    let mut hung = 0;
    for seed in 0..30 {
        let spec = drawn_of(&MISSES, "replication-lag", seed, busy());
        let outcome = spec.run(Engine::Fast).unwrap();
        let events = &outcome.history.events;
        let sleeps = events.iter().rev().find_map(|event| match event.what {
            What::Silent { ahead, .. } => Some((event.time_us, ahead)),
            _ => None,
        });
        let Some((_, ahead)) = sleeps.filter(|told| events.last().unwrap().time_us == told.0)
        else {
            continue;
        };
        assert!(!ahead, "seed {seed}");
        let facts = FinishedRun { spec: &spec, outcome: &outcome }.facts();
        let mut kinds = facts.violations.iter().map(|one| one.kind);
        assert!(kinds.any(|kind| kind == Kind::Deadlock), "seed {seed}");
        hung += 1;
    }
    assert!(hung > 1, "{hung} runs hung");
}

#[test]
fn a_dead_holder_whose_lease_runs_out_is_not_what_keeps_waiters_asleep() {
    static MISSES: Definition = by_message::definition(by_message::Habit::Trusts);
    static SLEEPS: Definition = by_message::definition(by_message::Habit::TrustsForAMinute);
    let mut kinds = Vec::new();
    for client in [&MISSES, &SLEEPS] {
        for seed in 0..20 {
            for one in run(client, "client-crash", seed, Scenario::default()).violations {
                let (kind, cause) = (one.kind, one.cause);
                assert_ne!(cause, Cause::HolderCrash, "seed {seed}: {}", one.summary);
                kinds.push(kind);
            }
        }
    }
    assert!(kinds.contains(&Kind::Deadlock) && kinds.contains(&Kind::Stuck), "{kinds:?}");
}

#[test]
fn the_world_tells_of_no_silence_where_all_goes_well() {
    let spec = drawn("single-node", "none", 1, Scenario::default());
    for engine in [Engine::Fast, Engine::Turmoil] {
        let history = spec.run(engine).unwrap().history;
        assert!(!history.events.iter().any(|event| matches!(event.what, What::Silent { .. })));
    }
}

#[test]
fn both_engines_know_the_same_of_what_lay_ahead() {
    static MISSES: Definition = by_message::definition(by_message::Habit::Trusts);
    let told = |seed, engine| {
        let history = drawn_of(&MISSES, "none", seed, busy()).run(engine).unwrap().history;
        let silent = history.events.into_iter().filter(|event| {
            event.node != Node::Storage && matches!(event.what, What::Silent { ahead: false, .. })
        });
        silent.collect::<Vec<_>>()
    };
    let fast: Vec<_> = (0..4).map(|seed| told(seed, Engine::Fast)).collect();
    assert!(fast.iter().any(|told| !told.is_empty()));
    assert_eq!(fast, (0..4).map(|seed| told(seed, Engine::Turmoil)).collect::<Vec<_>>());
}
