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

/// A thread's phase and number of open critical sections, several of them with a reentrant lock.
#[derive(Clone, Copy)]
struct Thread {
    phase: Phase,
    sections: u32,
}

/// Returns each fault's kind with a phase: the most critical phase of any thread of the processes
/// that the fault names. If none of these processes has acted yet, all threads count.
pub fn phases(history: &History) -> Vec<(String, String)> {
    let mut at: BTreeMap<Node, Thread> = BTreeMap::new();
    let mut met = Vec::new();
    for event in &history.events {
        match &event.what {
            What::FaultBegan { kind, nodes, .. } => {
                let named = at
                    .iter()
                    .filter(|(node, _)| nodes.contains(&node.machine()))
                    .map(|(_, thread)| thread.phase)
                    .max();
                let any = || at.values().map(|thread| thread.phase).max();
                let phase = named.or_else(any).unwrap_or(Phase::BeforeAcquire);
                met.push((kind.name().to_owned(), <&str>::from(phase).to_owned()));
            }
            _ => follow(&mut at, event),
        }
    }
    met
}

fn follow(at: &mut BTreeMap<Node, Thread>, event: &Event) {
    let known = at.get(&event.node).copied();
    let Thread { phase: was, sections } =
        known.unwrap_or(Thread { phase: Phase::Idle, sections: 0 });
    let (phase, sections) = match &event.what {
        What::Invoke { action: Action::Acquire, .. } => (Phase::Acquiring, sections),
        What::Invoke { action: Action::Release, .. } => {
            (Phase::Releasing, sections.saturating_sub(1))
        }
        What::Invoke { action: Action::Write { .. }, .. } => (Phase::GuardedWrite, sections),
        What::Ok { .. } if was == Phase::Acquiring => (Phase::Holding, sections + 1),
        What::Ok { .. } | What::Fail { .. } | What::Info { .. } => {
            let is_inside = matches!(was, Phase::GuardedWrite | Phase::Holding) || sections > 0;
            (if is_inside { Phase::Holding } else { Phase::Idle }, sections)
        }
        What::Crashed => {
            at.iter_mut()
                .filter(|(node, _)| node.machine() == event.node)
                .for_each(|(_, thread)| *thread = Thread { phase: Phase::Idle, sections: 0 });
            return;
        }
        What::Lost if was == Phase::Acquiring => (Phase::Acquiring, 0),
        What::Lost if known.is_some() => (Phase::Idle, 0),
        _ => return,
    };
    at.insert(event.node, Thread { phase, sections });
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
    fn a_thread_stays_in_its_outer_section_after_an_inner_call() {
        let nested = || Story::new().takes(1, 1, "a").takes(2, 1, "a");
        let met = |story: Story| {
            let history = story.fault_began(9, 1, "pause", &[Node::Client(1)]).build();
            phases(&history).remove(0).1
        };
        assert_eq!(met(nested().leaves(3, 1).left(4, 1)), "holding");
        assert_eq!(met(nested().acquires(3, 1).fails(4, 1)), "holding");
        assert_eq!(met(nested().leaves(3, 1).left(4, 1).leaves(5, 1).left(6, 1)), "idle");
        assert_eq!(met(nested().loses(3, 1)), "idle", "a loss ends all sections");
        assert_eq!(met(nested().acquires(3, 1).loses(4, 1).hears(5, 1, "b")), "holding");
        assert_eq!(met(nested().crashes(3, 1).starts(4, 1).acquires(5, 1).fails(6, 1)), "idle");
    }

    #[test]
    fn before_anybody_acquires_there_is_nothing_to_meet() {
        let history = Story::new().fault_began(1, 1, "pause", &[Node::Client(1)]).build();
        assert_eq!(phases(&history), vec![("pause".to_owned(), "before-acquire".to_owned())]);
    }
}
