//! Property tests: the checkers accept random correct histories and report planted violations.

use super::CHECKERS;
use crate::judge::finding::Kind;
use crate::judge::timeline::Timeline;
use crate::record::history::{History, What};
use crate::record::story::Story;
use crate::record::validate::validate;
use fencepost_faults::Node;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug)]
struct Turn {
    who: Node,
    waits: u64,
    holds: u64,
    updates: bool,
    ends: Ending,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    Releases,
    Crashes,
    Notices,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let ending = prop_oneof![
        8 => Just(Ending::Releases),
        1 => Just(Ending::Crashes),
        1 => Just(Ending::Notices),
    ];
    let turn = (1_u16..4, 1_u16..3, 0_u64..20, 2_u64..30, any::<bool>(), ending);
    let turn = turn.prop_map(|(client, thread, waits, holds, updates, ends)| {
        let who = Node::Client(client).for_thread(thread);
        Turn { who, waits, holds, updates, ends }
    });
    prop::collection::vec(turn, 2..40)
}

/// Returns a history of consecutive turns. The turn `cheated` begins before the previous turn ends.
fn history_of(turns: &[Turn], workload: &str, cheated: Option<usize>) -> History {
    let mut story = Story::of_workload(workload);
    let (mut now, mut value) = (1, if workload == "seckill" { 1_000 } else { 0 });
    for (index, turn) in turns.iter().enumerate() {
        let (owner, token) = (format!("owner-{index}"), index as u64 + 1);
        let from = if cheated == Some(index) { now - 1 } else { now + turn.waits };
        story = story.takes_with_token(from, turn.who, &owner, token);
        now = from + turn.holds;
        if turn.updates {
            let next = if workload == "seckill" { value - 1 } else { value + 1 };
            story = story.reads(from + 1, turn.who, value).writes(now, turn.who, value, next);
            value = next;
        }
        story = match turn.ends {
            Ending::Releases => story.releases(now, turn.who).removed(now, &owner, turn.who),
            Ending::Crashes => {
                let machine = turn.who.machine();
                story
                    .event(now, machine, What::Crashed)
                    .event(now, machine, What::Started)
                    .expires(now, &owner)
            }
            Ending::Notices => story.loses(now, turn.who).expires(now, &owner),
        };
    }
    story.build()
}

fn found(history: &History) -> Vec<Kind> {
    let timeline = Timeline::new(history);
    CHECKERS
        .iter()
        .flat_map(|checker| (checker.check)(&timeline))
        .map(|finding| finding.kind)
        .collect()
}

proptest! {
    #[test]
    fn turns_one_after_the_other_are_never_flagged(
        turns in turns(),
        workload in prop::sample::select(vec!["register", "seckill", "sequence"]),
    ) {
        let history = history_of(&turns, workload, None);
        prop_assert_eq!(validate(&history), Ok(()));
        prop_assert_eq!(found(&history), []);
    }

    #[test]
    fn a_planted_overlap_is_always_found(turns in turns(), place in any::<prop::sample::Index>()) {
        let place = 1 + place.index(turns.len() - 1);
        prop_assume!(turns[place].who != turns[place - 1].who);
        let turns = turns.into_iter().map(|turn| Turn { updates: false, ..turn });
        let turns: Vec<Turn> = turns.collect();
        prop_assert_eq!(found(&history_of(&turns, "register", Some(place))), [Kind::Overlap]);
    }

    #[test]
    fn a_planted_token_is_always_found(
        turns in turns(),
        place in any::<prop::sample::Index>(),
        back in 1_u64..5,
    ) {
        let mut history = history_of(&turns, "register", None);
        let place = 1 + place.index(turns.len() - 1);
        let planted = (place as u64 + 1).saturating_sub(back);
        for event in &mut history.events {
            if let What::Ok { token: Some(token), .. } = &mut event.what
                && *token == place as u64 + 1
            {
                *token = planted;
            }
        }
        prop_assert_eq!(found(&history), [Kind::TokenRegression]);
    }

    #[test]
    fn a_planted_late_write_is_always_found(
        turns in turns(),
        place in any::<prop::sample::Index>(),
    ) {
        let mut turns = turns;
        let (who, ends) = (Node::Client(9), Ending::Releases);
        turns.push(Turn { who, waits: 1, holds: 5, updates: false, ends });
        let place = place.index(turns.len() - 1);
        turns.iter_mut().skip(place + 1).for_each(|turn| turn.updates = true);
        let mut history = history_of(&turns, "register", None);
        plant_late_write(&mut history, place);
        let kinds = found(&history);
        prop_assert!(kinds.contains(&Kind::StaleWrite), "{:?}", kinds);
    }

    #[test]
    fn a_planted_foreign_release_is_always_found(
        turns in turns(),
        place in any::<prop::sample::Index>(),
    ) {
        let mut history = history_of(&turns, "register", None);
        let gone: Vec<usize> = history.events.iter().enumerate().filter(|(_, event)| {
            matches!(
                event.what,
                What::Server { change: crate::record::history::Change::Removed, .. }
            )
        }).map(|(index, _)| index).collect();
        prop_assume!(!gone.is_empty());
        if let What::Server { by, .. } = &mut history.events[gone[place.index(gone.len())]].what {
            *by = Some(Node::Client(9));
        }
        prop_assert_eq!(found(&history), [Kind::ForeignRelease]);
    }
}

fn plant_late_write(history: &mut History, place: usize) {
    use crate::record::history::{Access, Event};
    let owner_of_turn = format!("owner-{place}");
    let granted = history.events.iter().find_map(|event| match &event.what {
        What::Ok { operation, owner: Some(owner), .. } if *owner == owner_of_turn => {
            Some((*operation, event.node))
        }
        _ => None,
    });
    let (acquisition, by) = granted.expect("every turn is granted");
    let last = history.events.last().expect("there are events");
    let what = What::Storage {
        operation: 1_000_000,
        by,
        access: Access::Write,
        token: None,
        acquisition,
        accepted: true,
        before: 7,
        after: 8,
        based_on: Some(7),
    };
    let (sequence, time_us) = (last.sequence + 1, last.time_us);
    history.events.push(Event { sequence, time_us, node: Node::Storage, what });
}
