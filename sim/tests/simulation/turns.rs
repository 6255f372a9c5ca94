use crate::drawn::{drawn, history};
use fencepost::Scenario;
use fencepost_faults::Node;
use fencepost_reports::{Event, History, Turn, What, validate};
use std::collections::BTreeSet;

fn ran(client: &str, fault: &str, seed: u64) -> History {
    history(&drawn(client, fault, seed, Scenario::default()))
}

fn turns(history: &History) -> Vec<(Node, Turn, Option<Node>)> {
    let turn = |event: &Event| match event.what {
        What::Turn { turn, about } => Some((event.node, turn, about)),
        _ => None,
    };
    history.events.iter().filter_map(turn).collect()
}

#[test]
fn a_promotion_follows_an_alarm_and_is_named_by_a_sentinel() {
    let mut kinds = BTreeSet::new();
    for seed in 0..20 {
        let history = ran("single-node", "failover", seed);
        assert_eq!(validate(&history), Ok(()), "seed {seed}");
        let turns = turns(&history);
        kinds.extend(turns.iter().map(|(_, turn, _)| *turn));
        for (at, (node, turn, about)) in turns.iter().enumerate() {
            let before = |wanted: Turn| turns[..at].iter().any(|(_, turn, _)| *turn == wanted);
            let beside = |place: usize| turns.get(place).copied();
            match turn {
                Turn::Promoted => {
                    assert!(before(Turn::ObjectivelyDown), "seed {seed}: {turns:?}");
                    let is_named = |(who, turn, about): &(Node, Turn, Option<Node>)| {
                        matches!(who, Node::Sentinel(_))
                            && (*turn, *about) == (Turn::Names, Some(*node))
                    };
                    assert!(turns[at..].iter().any(is_named), "seed {seed}: {turns:?}");
                }
                Turn::ObjectivelyDown => assert!(before(Turn::SubjectivelyDown), "seed {seed}"),
                Turn::Unaware => {
                    let promoted = about.map(|about| (about, Turn::Promoted, None));
                    let is_left = at > 0 && beside(at - 1) == promoted;
                    let is_back = before(Turn::Promoted);
                    assert!(is_left || is_back, "seed {seed}: {turns:?}");
                    let last = turns[..at].iter().rev().find(|(one, turn, _)| {
                        one == node && matches!(turn, Turn::Demoted | Turn::Promoted)
                    });
                    let is_replica = last.is_some_and(|(_, turn, _)| *turn == Turn::Demoted);
                    assert!(!is_replica, "seed {seed}: {turns:?}");
                }
                _ => {}
            }
        }
    }
    for wanted in [Turn::Promoted, Turn::Demoted, Turn::Unaware, Turn::TookOver, Turn::Follows] {
        assert!(kinds.contains(&wanted), "20 seeds show no {wanted:?}: {kinds:?}");
    }
}

#[test]
fn where_nothing_is_replaced_there_are_no_turns() {
    for (fault, client) in [("none", "single-node"), ("pause", "redlock"), ("restart", "redlock")] {
        let deployment = |(_, turn, _): &(Node, Turn, Option<Node>)| {
            !matches!(turn, Turn::InFlight | Turn::Unanswered)
        };
        for seed in 0..5 {
            let turns = turns(&ran(client, fault, seed));
            assert!(!turns.iter().any(deployment), "{fault}, {client}, {seed}: {turns:?}");
        }
    }
}

#[test]
fn who_dies_with_a_command_under_way_is_told_right_after_the_crash() {
    let mut told = BTreeSet::new();
    for seed in 0..40 {
        for fault in ["client-crash", "restart"] {
            let history = ran("single-node", fault, seed);
            for (at, event) in history.events.iter().enumerate() {
                let What::Turn { turn, .. } = event.what else { continue };
                let crash = history.events[..at].iter().rev().find(|one| one.node == event.node);
                let mut died = history.events[..at].iter().rev().take(8);
                assert!(
                    died.any(|one| one.node == event.node && one.what == What::Crashed),
                    "{fault}, {seed}: {crash:?}"
                );
                told.insert((turn, event.node.is_process()));
            }
        }
    }
    assert!(told.contains(&(Turn::InFlight, true)), "{told:?}");
    assert!(told.iter().all(|(turn, process)| (*turn == Turn::InFlight) == *process), "{told:?}");
}
