//! Checks reported losses: they must not follow a release, and the lease must not continue. A
//! renewal counts only if no fault was active between the renewal and the report, because the
//! library may not have received the reply.

use super::{finding, may_be_another_server, never_expires, was_removed_elsewhere};
use crate::judge::finding::Finding;
use crate::judge::timeline::{
    KeyEnd, KeySpan, Moment, Outcome, Section, SectionEnd, Timeline, is_one_owner,
};
use crate::record::history::{Action, Change, What};
use fencepost_faults::{Impact, Micros, Node, SimTime};

pub(super) fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let events = timeline.history.events.iter().enumerate();
    let lost = events.filter(|(_, event)| matches!(event.what, What::Lost));
    lost.filter_map(|(index, event)| {
        let told = timeline.moment(index);
        let mut own = timeline.sections.iter().filter(|section| section.process == event.node);
        let ended =
            |section: &&Section| section.ended_by == SectionEnd::Lost && section.to == Some(told);
        match own.find(ended) {
            Some(section) => lost_while_held(timeline, section, told),
            None => after_release(timeline, event.node, told),
        }
    })
    .collect()
}

fn lost_while_held(timeline: &Timeline<'_>, section: &Section, told: Moment) -> Option<Finding> {
    if may_be_another_server(timeline) {
        return None;
    }
    let process = section.process;
    let owner = timeline.acquisitions[section.acquisition].owner?;
    // A process may report another owner value than it wrote, so all values that it wrote in its
    // critical section count.
    let own = |span: &&KeySpan<'_>| {
        let is_named = span.value.is_some_and(|value| is_one_owner(value, owner));
        span.by.map(Node::machine) == Some(process.machine())
            && (is_named || section.covers(span.from))
    };
    let stands = |span: &&KeySpan<'_>| {
        timeline.exists_at(span, told)
            && !was_removed_elsewhere(timeline, span, told)
            && outlasts(timeline, span, process, told)
    };
    let standing: Vec<&KeySpan<'_>> = timeline.keys.iter().filter(own).filter(stands).collect();
    super::is_quorum(timeline, &standing).then(|| {
        let what = format!(
            "{process} was told that it had lost the lock, but the lock remained at {}.",
            super::servers(&standing)
        );
        finding(process, told, what, standing.iter().map(|span| span.from))
    })
}

/// Returns `true` if the lease still continued at `told`, with a tenth of the lease as a margin.
/// The lease counts from the last renewal without a later fault, otherwise from the grant.
fn outlasts(timeline: &Timeline<'_>, span: &KeySpan<'_>, process: Node, told: Moment) -> bool {
    if never_expires(timeline, span) {
        return true;
    }
    let Some((runs_out, last)) = span.runs_out.zip(span.set.last()) else { return false };
    let lease = runs_out.since(last.time);
    let acts = |from: SimTime| timeline.faults.iter().any(|fault| fault.touches(from, told.time));
    let (first, later) = match span.set.split_first() {
        Some((first, later)) => (*first, later),
        None => return false,
    };
    let known = later.iter().rev().find(|set| !acts(set.time)).copied().unwrap_or(first);
    let is_bent = timeline.faults.iter().any(|fault| {
        let bends = |node| fault.does(Impact::BendsClock, node);
        fault.touches(first.time, told.time) && (bends(process) || bends(span.node))
    });
    !is_bent && told.time + Micros(lease.0 / 10) < known.time + lease
}

fn after_release(timeline: &Timeline<'_>, process: Node, told: Moment) -> Option<Finding> {
    let is_asking = timeline.acquiring(process, told).is_some();
    let mut before = timeline.sections.iter().rev();
    let section = before
        .find(|section| section.process == process && section.to.is_some_and(|to| to < told))?;
    let left = section.to.filter(|_| section.ended_by == SectionEnd::Release && !is_asking)?;
    let What::Invoke { operation, action: Action::Release } =
        timeline.history.events[left.index].what
    else {
        return None;
    };
    let (answered, _) = super::answer(timeline, left, operation).filter(|(_, is_done)| *is_done)?;
    let removed = |span: &&KeySpan<'_>| {
        matches!(span.to, Some((at, KeyEnd::Changed { change: Change::Removed, by: Some(by), .. }))
            if by == process && left < at && at < answered)
    };
    let removed: Vec<&KeySpan<'_>> = timeline.keys.iter().filter(removed).collect();
    let is_late = answered < told && super::is_quorum(timeline, &removed);
    let is_granted = timeline.acquisitions[section.acquisition].outcome == Outcome::Granted;
    (is_late && is_granted).then(|| {
        let what = format!(
            "{process} was told that it had lost the lock, {} after it had released it at {}.",
            told.time.since(answered.time),
            super::servers(&removed)
        );
        finding(process, told, what, removed.iter().filter_map(|span| Some(span.to?.0)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn wrong_answers(story: Story) -> usize {
        let history = story.with_recorded_leases().build();
        check(&Timeline::new(&history)).len()
    }

    #[test]
    fn rejects_a_loss_while_the_lease_runs_on() {
        assert_eq!(wrong_answers(Story::new().takes(1, 1, "a").loses(5, 1)), 1);
        assert_eq!(wrong_answers(Story::new().takes(1, 1, "a").expires(11, "a").loses(12, 1)), 0);
        assert_eq!(wrong_answers(Story::new().takes(1, 1, "a").removed(3, "a", 2).loses(5, 1)), 0);
    }

    #[test]
    fn a_second_name_of_the_holder_is_its_own() {
        let renamed = |by| {
            let story = Story::new().takes(1, 1, "a");
            let story = story.server(3, 1, Change::Granted, "b", Some(Node::Client(by)));
            wrong_answers(story.loses(5, 1))
        };
        assert_eq!([renamed(1), renamed(2)], [1, 0]);
    }

    #[test]
    fn a_cautious_loss_at_the_end_of_the_lease_is_none() {
        let cautious = Story::new().takes(1, 1, "a").loses(10, 1).expires(11, "a");
        assert_eq!(wrong_answers(cautious), 0);
        let renewed = || {
            let by = Some(Node::Client(1));
            Story::new().takes(1, 1, "a").server(6, 1, Change::Extended, "a", by)
        };
        assert_eq!(wrong_answers(renewed().loses(11, 1)), 1);
        let unheard = renewed().fault_began(6, 1, "lost-reply", &[Node::Client(1)]);
        assert_eq!(wrong_answers(unheard.loses(11, 1)), 0, "the renewal may not be known");
    }

    #[test]
    fn rejects_a_loss_after_a_clean_release() {
        let left = || Story::new().takes(1, 1, "a").leaves(3, 1).removed(4, "a", 1).left(5, 1);
        assert_eq!(wrong_answers(left().loses(7, 1)), 1);
        let again = left().acquires(6, 1).loses(7, 1);
        assert_eq!(wrong_answers(again), 0, "it asks for the lock again");
        let expired = Story::new().takes(1, 1, "a").expires(11, "a").leaves(12, 1).left(13, 1);
        assert_eq!(wrong_answers(expired.loses(14, 1)), 0, "there was nothing to give back");
    }
}
