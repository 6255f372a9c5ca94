use crate::explain::cause::Cause;
use crate::judge::finding::Kind;
use crate::record::history::{Action, Change, Event, History, Turn, What};
use crate::record::story::random::stories;
use crate::record::story::{KEY, Story};
use crate::samples;
use crate::summary::sweep::{Cell, RunSummary};
use crate::summary::verdict::{Judgement, Verdict, judge};
use crate::summary::violation::fingerprint;
use fencepost_faults::{FaultKind, Impact, Micros, Node, Seed, SimTime};
use proptest::prelude::*;

fn broken(judgement: &Judgement) -> Vec<(Kind, Cause)> {
    judgement.violations.iter().map(|one| (one.kind, one.cause)).collect()
}

fn later(mut history: History, by: Micros) -> History {
    for event in &mut history.events {
        event.time_us = event.time_us + by;
        match &mut event.what {
            What::Silent { since_us, .. } => *since_us = *since_us + by,
            What::Storage { .. } | What::Server { .. } => {}
            _ => {}
        }
    }
    history
}

fn with_a_stranger(mut history: History) -> History {
    let of_lock = |event: &crate::record::history::Event| matches!(&event.what, What::Server { key, .. } if key == KEY);
    let stranger = |event: &crate::record::history::Event| {
        let mut stranger = event.clone();
        if let What::Server { key, by, .. } = &mut stranger.what {
            *key = format!("{KEY}-of-a-stranger");
            *by = None;
        }
        stranger
    };
    // A stranger's event directly follows the original, because the server's role may change later.
    let with_strangers = history.events.iter().flat_map(|event| {
        let stranger = of_lock(event).then(|| stranger(event));
        std::iter::once(event.clone()).chain(stranger)
    });
    history.events = with_strangers.collect();
    for (sequence, event) in history.events.iter_mut().enumerate() {
        event.sequence = sequence as u64;
    }
    history
}

fn is_of(cause: Cause, event: &Event) -> bool {
    let fault = match &event.what {
        What::FaultBegan { kind, .. } => Some(*kind),
        _ => None,
    };
    let does = |impact| fault.is_some_and(|kind| kind.impact() == impact);
    let changes = |wanted| matches!(&event.what, What::Server { change, .. } if *change == wanted);
    let dies = matches!(event.what, What::Crashed);
    let server_dies = dies && event.node.is_server();
    match cause {
        Cause::HolderPause | Cause::WaiterPause => does(Impact::Freezes),
        Cause::Partition => fault == Some(FaultKind::Partition),
        Cause::ClockJump => fault == Some(FaultKind::ClockJump),
        Cause::ClockDrift => fault == Some(FaultKind::ClockDrift),
        Cause::ClockSkew => does(Impact::BendsClock),
        Cause::Eviction => changes(Change::Evicted),
        Cause::Flush => changes(Change::Flushed) || fault == Some(FaultKind::FlushAll),
        Cause::RestartWithoutDelay | Cause::RestartDataLoss => {
            server_dies || changes(Change::Forgotten)
        }
        Cause::HolderCrash | Cause::WaiterCrash => dies && event.node.is_process(),
        Cause::ServerOutage => server_dies || does(Impact::Kills) || does(Impact::Freezes),
        Cause::DiskFailure => {
            let stops = matches!(
                event.what,
                What::Turn { turn: Turn::DiskFailed | Turn::RefusesWrites, .. }
            );
            let is_refusal = |reason: &String| reason.contains("MISCONF");
            stops
                || matches!(&event.what, What::Fail { reason, .. } | What::Info { reason, .. }
                    if is_refusal(reason))
        }
        Cause::LostReply => {
            let slows = matches!(fault, Some(FaultKind::Delay | FaultKind::SlowServer));
            dies || fault.is_some() && !slows
        }
        Cause::GivenUpCall => matches!(event.what, What::GivenUp { .. }),
        Cause::EarlyRelease => {
            let releases = |action: &Action| *action == Action::Release;
            let is_release = matches!(&event.what, What::Invoke { action, .. } if releases(action));
            is_release || changes(Change::Removed)
        }
        Cause::ForeignRelease | Cause::StaleTakeover => changes(Change::Removed),
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_violation_rests_on_events_of_its_history(story in stories()) {
        let history = story.build();
        for violation in judge(&history).violations {
            let sequences: Vec<u64> = violation.witness.iter().map(|one| one.sequence).collect();
            prop_assert!(!sequences.is_empty(), "{violation:?}");
            prop_assert!(sequences.windows(2).all(|pair| pair[0] < pair[1]), "{sequences:?}");
            for event in &violation.witness {
                prop_assert_eq!(event, &history.events[event.sequence as usize]);
            }
            let told: Vec<u64> = violation.narrative.iter().map(|line| line.event).collect();
            prop_assert!(told.is_sorted(), "{told:?}");
            prop_assert!(told.iter().all(|event| (*event as usize) < history.events.len()));
        }
    }

    #[test]
    fn a_cause_names_only_faults_and_deeds_that_the_run_had(story in stories()) {
        let history = story.build();
        for violation in judge(&history).violations {
            let had = history.events.iter().any(|event| is_of(violation.cause, event));
            prop_assert!(had, "{}: {}", violation.cause, violation.summary);
        }
    }

    #[test]
    fn a_violation_is_counted_and_named_for_what_it_is(story in stories()) {
        let history = story.build();
        let judgement = judge(&history);
        for violation in &judgement.violations {
            prop_assert!(violation.occurrences > 0);
            prop_assert!(violation.total_duration_us >= violation.duration_us, "{violation:?}");
            prop_assert_eq!(violation.severity, violation.kind.severity());
            let id = fingerprint(&history.header.client, violation.kind, violation.cause);
            prop_assert_eq!(&violation.id, &id);
        }
        let mut all = broken(&judgement);
        all.sort();
        prop_assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
        let is_violated = judgement.verdict == Verdict::Violated;
        prop_assert_eq!(is_violated, !judgement.violations.is_empty());
    }

    #[test]
    fn a_summary_is_sentences(story in stories()) {
        for violation in judge(&story.build()).violations {
            let (summary, cause) = (&violation.summary, violation.cause);
            prop_assert!(summary.ends_with('.'), "{cause}: {summary}");
            let is_torn = ["  ", "..", " .", " ,", "{", "}", "the the"];
            let torn = is_torn.iter().find(|torn| summary.contains(**torn));
            prop_assert!(torn.is_none(), "{cause}: {torn:?} in {summary}");
        }
    }

    #[test]
    fn a_history_that_was_written_and_read_is_judged_alike(story in stories()) {
        let history = story.build();
        let text = serde_json::to_string(&history).unwrap();
        let read: History = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(judge(&read), judge(&history));
    }

    #[test]
    fn the_hour_does_not_matter(story in stories(), hours in 1_u64..1_000) {
        let history = story.build();
        let by = Micros::from_secs(hours * 3_600);
        prop_assert_eq!(broken(&judge(&later(history.clone(), by))), broken(&judge(&history)));
    }

    #[test]
    fn another_key_does_not_matter(story in stories()) {
        let history = story.build();
        let before = broken(&judge(&history));
        prop_assert_eq!(broken(&judge(&with_a_stranger(history))), before);
    }

    #[test]
    fn runs_add_up_in_any_order(
        stories in prop::collection::vec(stories(), 2..6),
        cut in 1_usize..5,
    ) {
        let runs: Vec<_> = stories.into_iter().map(samples::facts).collect();
        let sum = |runs: &[(u64, &crate::RunFacts)]| {
            let mut cell = Cell::new("single-node", "pause");
            for (seed, run) in runs {
                cell.add(&RunSummary { seed: Seed(*seed), run, phases: &[] });
            }
            cell
        };
        let all: Vec<(u64, &crate::RunFacts)> = (0..).zip(&runs).collect();
        let (left, right) = all.split_at(cut.min(all.len() - 1));
        let (left, right) = (sum(left), sum(right));
        let (mut forwards, mut backwards) = (left.clone(), right.clone());
        forwards.absorb(&right);
        backwards.absorb(&left);
        prop_assert_eq!(&forwards, &sum(&all));
        prop_assert_eq!(&backwards, &forwards);
    }
}

#[test]
fn a_later_history_is_the_same_one() {
    let history = samples::paused_holder().build();
    let moved = later(history.clone(), Micros::from_secs(1));
    assert_eq!(moved.events[0].time_us, history.events[0].time_us + Micros::from_secs(1));
    assert_eq!(later(history.clone(), Micros::ZERO), history);
}

#[test]
fn a_stranger_is_seen_by_nobody_but_the_history() {
    let story = Story::new().takes(1, 1, "a").releases(2, 1).removed(2, "a", 1);
    let history = with_a_stranger(story.build());
    let strangers = history.events.iter().filter(
        |event| matches!(&event.what, What::Server { key, .. } if key.ends_with("stranger")),
    );
    assert_eq!(strangers.count(), 2);
    assert_eq!(history.events[0].time_us, SimTime(1_000));
    assert_eq!(history.events[0].node, Node::Client(1));
}
