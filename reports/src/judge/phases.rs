//! Determines and counts the protocol phases in which faults began.

use crate::record::history::{Action, Event, History, What};
use fencepost_faults::Node;
use std::collections::BTreeMap;
use strum::IntoStaticStr;

/// All phases, in the order of the protocol.
pub const PHASES: [&str; 6] =
    ["before-acquire", "acquiring", "holding", "guarded-write", "releasing", "idle"];

pub fn counts_by_phase(
    counts: &BTreeMap<String, BTreeMap<String, u64>>,
) -> Vec<(&'static str, u64)> {
    let began = |phase| counts.values().filter_map(|phases| phases.get(phase)).sum::<u64>();
    let counts: Vec<_> = PHASES.into_iter().map(|phase| (phase, began(phase))).collect();
    if counts.iter().all(|(_, count)| *count == 0) { Vec::new() } else { counts }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
enum Phase {
    BeforeAcquire,
    Idle,
    Acquiring,
    Releasing,
    Holding,
    GuardedWrite,
}

/// Returns each fault's kind, and the most critical phase of the threads of the processes that the
/// fault names. If none of these has acted yet, all threads count.
pub fn phases(history: &History) -> Vec<(String, String)> {
    let mut at: BTreeMap<Node, Phase> = BTreeMap::new();
    let mut met = Vec::new();
    for event in &history.events {
        match &event.what {
            What::FaultBegan { kind, nodes, .. } => {
                let named = at
                    .iter()
                    .filter(|(node, _)| nodes.contains(&node.machine()))
                    .map(|(_, phase)| phase)
                    .max();
                let phase =
                    named.or_else(|| at.values().max()).copied().unwrap_or(Phase::BeforeAcquire);
                met.push((kind.name().to_owned(), <&str>::from(phase).to_owned()));
            }
            _ => follow(&mut at, event),
        }
    }
    met
}

fn follow(at: &mut BTreeMap<Node, Phase>, event: &Event) {
    let was = at.get(&event.node).copied();
    let now = match &event.what {
        What::Invoke { action: Action::Acquire, .. } => Phase::Acquiring,
        What::Invoke { action: Action::Release, .. } => Phase::Releasing,
        What::Invoke { action: Action::Write { .. }, .. } => Phase::GuardedWrite,
        What::Ok { .. } if was == Some(Phase::Acquiring) => Phase::Holding,
        What::Ok { .. } | What::Fail { .. } | What::Info { .. } => match was {
            Some(Phase::GuardedWrite | Phase::Holding) => Phase::Holding,
            _ => Phase::Idle,
        },
        What::Crashed => {
            at.iter_mut()
                .filter(|(node, _)| node.machine() == event.node)
                .for_each(|(_, phase)| *phase = Phase::Idle);
            return;
        }
        What::Lost if was.is_some() => Phase::Idle,
        _ => return,
    };
    at.insert(event.node, now);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    #[test]
    fn a_fault_meets_the_phase_of_the_process_that_it_names() {
        let history = Story::new()
            .under("pause")
            .acquires(1, 1)
            .fault_began(2, 1, "pause", &[Node::Client(1)])
            .hears(3, 1, "a")
            .fault_began(4, 2, "pause", &[Node::Client(1)])
            .fault_began(5, 3, "pause", &[Node::Client(2)])
            .releases(6, 1)
            .fault_began(7, 4, "crash", &[Node::Redis(1)])
            .build();
        let met: Vec<(String, String)> = phases(&history);
        let expected =
            [("pause", "acquiring"), ("pause", "holding"), ("pause", "holding"), ("crash", "idle")];
        let expected: Vec<(String, String)> = expected
            .iter()
            .map(|(kind, phase)| ((*kind).to_owned(), (*phase).to_owned()))
            .collect();
        assert_eq!(met, expected);
    }

    #[test]
    fn a_fault_meets_the_thread_that_is_furthest_and_a_crash_all_of_them() {
        let (first, second) = (Node::Client(1), Node::Client(1).for_thread(2));
        let history = Story::new()
            .acquires(1, first)
            .takes(2, second, "a")
            .fault_began(3, 1, "pause", &[first])
            .crashes(4, 1)
            .starts(5, 1)
            .fault_began(6, 2, "pause", &[first])
            .build();
        let met: Vec<String> = phases(&history).into_iter().map(|(_, phase)| phase).collect();
        assert_eq!(met, ["holding", "idle"]);
    }

    #[test]
    fn before_anybody_acquires_there_is_nothing_to_meet() {
        let history = Story::new().fault_began(1, 1, "pause", &[Node::Client(1)]).build();
        assert_eq!(phases(&history), vec![("pause".to_owned(), "before-acquire".to_owned())]);
    }
}
