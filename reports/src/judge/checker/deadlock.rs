//! Checks that while processes wait for a free lock, a pending event can still wake one of them.

use super::Checker;
use crate::judge::finding::{Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{Acquisition, Moment, Timeline};
use crate::record::history::What;
use crate::record::listed::listed;
use fencepost_faults::{Node, SimTime};

pub(super) const CHECKER: Checker = Checker { name: "deadlock", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "The message that the lock is free was missed, or was sent to a process that is gone, and \
          the waiting processes have set no timer.",
    helps: "Wait for at most one lease, then ask again. Ask once more after subscribing and before \
            sleeping.",
};

pub(super) fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let open = || timeline.acquisitions.iter().filter(|one| one.completed.is_none());
    let waiting: Vec<(&Acquisition<'_>, Moment)> = open()
        .filter_map(|one| Some((one, silence_without_hope(timeline, one.process)?)))
        .collect();
    let is_held = timeline.sections.iter().any(|section| section.to.is_none());
    if waiting.is_empty() || is_held || waiting.len() < open().count() {
        return Vec::new();
    }
    let from = began(timeline, &waiting);
    let mut processes: Vec<Node> = waiting.iter().map(|(one, _)| one.process).collect();
    processes.sort();
    let what = format!(
        "No process was in its critical section from {from} to the end of the run at {}, while {} waited for it. \
         At the end no pending event could wake a process: no timer, no message from or to a \
         process, no answer from a server.",
        timeline.end,
        listed(&processes, "and")
    );
    let mut witness: Vec<usize> =
        waiting.iter().flat_map(|(one, told)| [one.invoked.index, told.index]).collect();
    witness.sort_unstable();
    let (kind, duration) = (Kind::Deadlock, timeline.end.since(from));
    vec![Finding { kind, at: from, duration, processes, what, witness, clash: None }]
}

fn silence_without_hope(timeline: &Timeline<'_>, process: Node) -> Option<Moment> {
    let hopeless = |what: &What| matches!(what, What::Silent { ahead: false, .. });
    let events = &timeline.history.events;
    let index = events.iter().rposition(|event| event.node == process && hopeless(&event.what))?;
    Some(timeline.moment(index))
}

fn began(timeline: &Timeline<'_>, waiting: &[(&Acquisition<'_>, Moment)]) -> SimTime {
    let asked = waiting.iter().map(|(one, _)| one.invoked.time);
    let left = timeline.sections.iter().filter_map(|section| Some(section.to?.time));
    asked.chain(left).max().unwrap_or(timeline.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn found(story: Story) -> usize {
        let history = story.build();
        check(&Timeline::new(&history)).len()
    }

    fn waits() -> Story {
        Story::new().takes(1, 1, "a").acquires(2, 2).leaves(5, 1).removed(5, "a", 1).left(6, 1)
    }

    #[test]
    fn rejects_waiters_that_nothing_can_wake() {
        assert_eq!(found(waits().silent(7, 2, 2, false)), 1);
        let both = waits().acquires(7, 3).silent(9, 2, 2, false).silent(9, 3, 8, false);
        let history = both.build();
        let finding = &check(&Timeline::new(&history))[0];
        assert_eq!((finding.at.0, finding.duration.0), (7_000, 2_000));
        assert_eq!(finding.processes, [Node::Client(2), Node::Client(3)]);
    }

    #[test]
    fn accepts_a_waiter_for_whom_something_lies_ahead() {
        assert_eq!(found(waits().silent(99, 2, 2, true)), 0);
        assert_eq!(found(waits()), 0);
    }

    #[test]
    fn accepts_waiters_while_somebody_holds() {
        let held = Story::new().takes(1, 1, "a").acquires(2, 2).silent(99, 2, 2, false);
        assert_eq!(found(held), 0);
    }

    #[test]
    fn accepts_one_that_got_in_or_gave_up() {
        assert_eq!(found(waits().silent(99, 2, 2, false).fails(99, 2)), 0);
    }

    #[test]
    fn rejects_a_waiter_behind_a_holder_that_died() {
        let died = Story::new().takes(1, 1, "a").acquires(2, 2).crashes(5, 1);
        assert_eq!(found(died.silent(7, 2, 2, false)), 1);
    }

    #[test]
    fn names_all_waiting_processes() {
        let story = waits().acquires(3, 3).acquires(3, 4);
        let story = (2..=4).fold(story, |story, client| story.silent(20, client, 4, false));
        let history = story.build();
        let found = check(&Timeline::new(&history));
        assert!(found[0].what.contains("while client-2, client-3 and client-4 waited for it."));
    }
}
