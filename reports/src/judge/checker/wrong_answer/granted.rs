//! Checks that a quorum of servers has the lock when a process learns of its grant, and for the
//! stated validity. The check skips nested acquires, and acquires that a fault or another process
//! may have disturbed.

use super::{finding, machine_of};
use crate::judge::finding::Finding;
use crate::judge::timeline::{Acquisition, KeyEnd, KeySpan, Moment, Outcome, Timeline};
use crate::record::history::{Action, Change, What};
use fencepost_faults::{Impact, Micros, Node, SimTime};
use std::collections::{BTreeMap, BTreeSet};

/// Time by which the stated validity may exceed the lease, because messages take time to arrive.
const TOLERANCE: Micros = Micros(50_000);

pub(super) fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    timeline.acquisitions.iter().filter_map(|one| granted_wrongly(timeline, one)).collect()
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unsupported {
    /// Number of servers that had the lock at the answer, less than a quorum.
    Grant(usize),
    /// Stated validity, and the shorter time for which the servers supported it.
    Validity(Micros, Micros),
}

fn granted_wrongly(timeline: &Timeline<'_>, one: &Acquisition<'_>) -> Option<Finding> {
    let told = one.completed?;
    let own = own(timeline, one, told);
    match unsupported(timeline, one)? {
        Unsupported::Grant(standing) => Some(without_quorum(timeline, one, told, &own, standing)),
        Unsupported::Validity(stated, supported) => {
            let why = was_over(timeline);
            let what = format!(
                "{} was told that its lock is valid for {stated}, but {supported} later {why}.",
                one.process
            );
            Some(finding(one.process, told, what, own.iter().map(|span| span.from)))
        }
    }
}

pub(crate) fn was_over(timeline: &Timeline<'_>) -> String {
    match timeline.history.header.quorum.max(1) {
        1 => "its lease had expired".to_owned(),
        quorum => format!("fewer than {quorum} servers still had it"),
    }
}

fn own<'t, 'h>(
    timeline: &'t Timeline<'h>,
    one: &Acquisition<'_>,
    told: Moment,
) -> Vec<&'t KeySpan<'h>> {
    let machine = one.process.machine();
    let is_own = |span: &&KeySpan<'_>| machine_of(span) == Some(machine) && span.from < told;
    timeline.keys.iter().filter(is_own).collect()
}

/// Returns the part of a grant that the servers did not support. Returns `None` if they supported
/// the grant, or if the check does not apply to the acquisition.
pub(crate) fn unsupported(timeline: &Timeline<'_>, one: &Acquisition<'_>) -> Option<Unsupported> {
    let told = one.completed.filter(|_| one.outcome == Outcome::Granted)?;
    let own = own(timeline, one, told);
    let is_inner = timeline
        .sections
        .iter()
        .any(|outer| outer.process == one.process && outer.covers(one.invoked));
    if is_inner || is_excused(timeline, one, told, &own) || took_token(timeline, one, told) {
        return None;
    }
    if own.is_empty() {
        // If no key is recorded, or the owner of a value is unknown, the grants are unknown.
        let is_known = !timeline.keys.is_empty() && timeline.keys.iter().all(has_known_owner);
        return is_known.then_some(Unsupported::Grant(0));
    }
    let standing = own.iter().filter(|span| timeline.exists_at(span, told));
    let mut ends: BTreeMap<Node, Option<SimTime>> = BTreeMap::new();
    for span in standing {
        ends.insert(span.node, span.runs_out);
    }
    let quorum = usize::from(timeline.history.header.quorum.max(1));
    if ends.len() < quorum {
        return Some(Unsupported::Grant(ends.len()));
    }
    let stated = one.valid_for?;
    let mut ends: Vec<SimTime> = ends.into_values().flatten().collect();
    ends.sort();
    let supported = ends.len().checked_sub(quorum).map(|place| ends[place])?;
    let is_less = supported + TOLERANCE < told.time + stated;
    is_less.then(|| Unsupported::Validity(stated, supported.since(told.time)))
}

pub(crate) fn too_few(timeline: &Timeline<'_>, one: &Acquisition<'_>, servers: usize) -> String {
    let quorum = timeline.history.header.quorum;
    let was_granted = was_granted(timeline, one);
    let had = if was_granted { "still had it" } else { "had granted it" };
    match (servers, quorum) {
        (0, 0..=1) if was_granted => "its server no longer had it".to_owned(),
        (0, 0..=1) => "its server had not granted it".to_owned(),
        (0, _) => format!("none of the {quorum} servers that it needs {had}"),
        _ => format!("only {servers} of the {quorum} servers that it needs {had}"),
    }
}

/// Returns `true` if a quorum of servers had a new lock of the process during the acquire.
pub(crate) fn was_granted(timeline: &Timeline<'_>, one: &Acquisition<'_>) -> bool {
    let Some(told) = one.completed else { return false };
    let own = own(timeline, one, told);
    let granted: BTreeSet<Node> =
        own.iter().filter(|span| one.invoked < span.from).map(|span| span.node).collect();
    granted.len() >= usize::from(timeline.history.header.quorum.max(1))
}

fn has_known_owner(span: &KeySpan<'_>) -> bool {
    machine_of(span).is_some()
}

/// Returns `true` if, during the acquire, the process removed a value that the acquire had not
/// created, such as a token that a holder takes from a list.
fn took_token(timeline: &Timeline<'_>, one: &Acquisition<'_>, told: Moment) -> bool {
    timeline.keys.iter().any(|span| match span.to {
        Some((at, KeyEnd::Changed { change: Change::Removed, by: Some(by), .. })) => {
            let machine = one.process.machine();
            let is_own = machine_of(span) == Some(machine) && one.invoked < span.from;
            by.machine() == machine && one.invoked < at && at < told && !is_own
        }
        _ => false,
    })
}

fn is_excused(
    timeline: &Timeline<'_>,
    one: &Acquisition<'_>,
    told: Moment,
    own: &[&KeySpan<'_>],
) -> bool {
    let (from, to) = (one.invoked.time, told.time);
    let is_hit = timeline.faults.iter().any(|fault| {
        let impacts = [Impact::Freezes, Impact::BendsClock, Impact::Kills];
        let hits = |node| impacts.iter().any(|impact| fault.does(*impact, node));
        fault.touches(from, to) && (hits(one.process) || own.iter().any(|span| hits(span.node)))
    });
    let taken = |span: &&&KeySpan<'_>| match span.to {
        Some((at, _)) if at < one.invoked || told < at => false,
        Some((_, KeyEnd::Changed { change: Change::Expired, .. })) | None => false,
        // If the owner changes its own count, the lock remains.
        Some((at, KeyEnd::Replaced)) => {
            timeline.replacer(at).map(Node::machine) != Some(one.process.machine())
        }
        Some((at, KeyEnd::Changed { change: Change::Removed, by: Some(by), .. })) => {
            by.machine() != one.process.machine()
                || is_of_other_thread(timeline, one, at)
                || !timeline.reuses_owner(one) && may_have_been_held_up(timeline, one, at)
        }
        Some(_) => true,
    };
    is_hit || own.iter().any(|span| taken(&span))
}

/// Returns `true` if another thread of the process was executing a release at `at`.
fn is_of_other_thread(timeline: &Timeline<'_>, one: &Acquisition<'_>, at: Moment) -> bool {
    let mut releasing: BTreeMap<u64, Node> = BTreeMap::new();
    for event in &timeline.history.events[..at.index] {
        match &event.what {
            What::Invoke { operation, action: Action::Release } => {
                releasing.insert(*operation, event.node);
            }
            What::Ok { operation, .. }
            | What::Fail { operation, .. }
            | What::Info { operation, .. } => {
                releasing.remove(operation);
            }
            _ => {}
        }
    }
    let is_other = |node: &Node| *node != one.process && node.machine() == one.process.machine();
    releasing.values().any(is_other)
}

fn may_have_been_held_up(timeline: &Timeline<'_>, one: &Acquisition<'_>, at: Moment) -> bool {
    let since = SimTime(at.time.0.saturating_sub(timeline.history.header.ttl_us.0));
    timeline.faults.iter().any(|fault| {
        let holds_up = matches!(fault.kind.impact(), Impact::HoldsUpMessages | Impact::LosesReply);
        holds_up && fault.names(one.process.machine()) && fault.touches(since, at.time)
    })
}

fn without_quorum(
    timeline: &Timeline<'_>,
    one: &Acquisition<'_>,
    told: Moment,
    own: &[&KeySpan<'_>],
    standing: usize,
) -> Finding {
    let quorum = timeline.history.header.quorum.max(1);
    let expired = own.iter().rev().find(|span| {
        matches!(span.to, Some((_, KeyEnd::Changed { change: Change::Expired, .. })) | None)
    });
    let why = match (quorum, expired) {
        (1, Some(span)) => {
            format!("its lease had expired at {}", timeline.existed_until(span))
        }
        (1, None) if timeline.keys.iter().any(|span| timeline.exists_at(span, told)) => {
            "no server had granted it".to_owned()
        }
        (1, None) => "no server had it".to_owned(),
        _ => too_few(timeline, one, standing),
    };
    let what = format!("{} was told that it got the lock, but {why}.", one.process);
    let during = own.iter().filter(|span| one.invoked < span.from);
    finding(one.process, told, what, during.map(|span| span.from).chain([one.invoked]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    fn wrong_answers(story: Story) -> Vec<String> {
        let history = story.build();
        check(&Timeline::new(&history)).into_iter().map(|one| one.what).collect()
    }

    #[test]
    fn the_release_of_another_thread_is_no_wrong_answer() {
        let asker = Node::Client(1).for_thread(2);
        let story = |releases: bool| {
            let story = Story::new().takes(1, 1, "a");
            let story = if releases { story.leaves(5, 1) } else { story };
            let story = story.acquires(6, asker).grants(7, asker, "a").removed(8, "a", 1);
            let story = if releases { story.left(9, 1) } else { story };
            wrong_answers(story.hears(10, asker, "a"))
        };
        assert_eq!(story(true), [""; 0]);
        assert_eq!(
            story(false),
            ["client-1.2 was told that it got the lock, but no server had it."]
        );
    }

    #[test]
    fn rejects_a_grant_without_a_quorum() {
        let story = |servers: u16| {
            let asked = Story::with_quorum(2).acquires(1, 1);
            (1..=servers).fold(asked, |story, redis| story.grants_at(2, 1, redis, "a"))
        };
        assert_eq!(wrong_answers(story(2).hears(3, 1, "a")), [""; 0]);
        let said = wrong_answers(story(1).hears(3, 1, "a"));
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("only 1 of the 2 servers"), "{}", said[0]);
    }

    #[test]
    fn rejects_a_grant_of_which_no_server_knows() {
        let story = || Story::new().takes(1, 1, "a").releases(2, 1).removed(3, "a", 1);
        assert_eq!(wrong_answers(story().takes(4, 2, "b")), [""; 0]);
        let said = wrong_answers(story().acquires(4, 2).hears(5, 2, "b"));
        assert_eq!(said, ["client-2 was told that it got the lock, but no server had it."]);
        let no_key = Story::new().acquires(4, 2).hears(5, 2, "b");
        assert_eq!(wrong_answers(no_key), [""; 0], "the key may be another");
    }

    #[test]
    fn accepts_a_lock_that_is_a_token_which_its_holder_takes_away() {
        let popped = |story: Story| wrong_answers(story.removed(3, "token", 1).hears(4, 1, "a"));
        let before = Story::new().grants(1, 2, "token").acquires(2, 1);
        assert_eq!(popped(before), [""; 0]);
        let meanwhile = Story::new().acquires(2, 1).grants(2, 2, "token");
        assert_eq!(popped(meanwhile), [""; 0]);
        let created = Story::new().acquires(2, 1).grants(3, 1, "a").removed(3, "a", 1);
        assert_eq!(wrong_answers(created.hears(4, 1, "a")).len(), 1, "it took back its own vote");
    }

    #[test]
    fn rejects_a_grant_whose_lease_is_over() {
        let late = || Story::new().acquires(1, 1).grants(2, 1, "a").expires(12, "a");
        assert_eq!(wrong_answers(late().hears(13, 1, "a")).len(), 1);
        let each =
            |story, ms| (1..=2).fold(story, |story: Story, n| story.grants_at(ms, 1, n, "a"));
        let story = each(Story::with_quorum(2).acquires(1, 1), 2);
        let story = (1..=2).fold(story, |story, n| story.expires_at(12, n, "a"));
        let said = wrong_answers(story.hears(13, 1, "a"));
        assert!(said[0].ends_with("none of the 2 servers that it needs still had it."), "{said:?}");
        let paused = late().fault_began(3, 1, "pause", &[Node::Client(1)]);
        let paused = paused.fault_ended(13, 1, "pause", Node::Client(1));
        assert_eq!(wrong_answers(paused.hears(13, 1, "a")), [""; 0]);
    }

    #[test]
    fn accepts_a_lock_that_was_taken_away_before_its_holder_heard_of_it() {
        let story = Story::new().acquires(1, 1).grants(2, 1, "a");
        assert_eq!(wrong_answers(story.clone().removed(3, "a", 2).hears(4, 1, "a")), [""; 0]);
        let flushed = story.server(3, 1, Change::Flushed, "a", None);
        assert_eq!(wrong_answers(flushed.hears(4, 1, "a")), [""; 0]);
    }

    #[test]
    fn accepts_a_lock_that_a_late_command_of_its_own_process_removed() {
        let removed = |cut: bool| {
            let story = Story::new();
            let story = match cut {
                true => story
                    .fault_began(0, 1, "partition", &[Node::Client(1), Node::Redis(1)])
                    .fault_ended(1, 1, "partition", Node::Redis(1)),
                false => story,
            };
            let story = story.acquires(2, 1).grants(3, 1, "a").removed(4, "a", 1);
            wrong_answers(story.hears(5, 1, "a")).len()
        };
        assert_eq!([removed(true), removed(false)], [0, 1]);
    }

    #[test]
    fn rejects_a_lock_that_a_late_release_of_an_earlier_one_with_the_same_owner_removed() {
        let second = |owner: &str| {
            let story = Story::new()
                .fault_began(0, 1, "partition", &[Node::Client(1), Node::Redis(1)])
                .fault_ended(1, 1, "partition", Node::Redis(1));
            let story = story.takes(2, 1, "a").leaves(3, 1).info(4, 1).removed(5, "a", 1);
            let story = story.acquires(6, 1).grants(7, 1, owner).removed(8, owner, 1);
            wrong_answers(story.hears(9, 1, owner)).len()
        };
        assert_eq!([second("a"), second("b")], [1, 0]);
    }

    #[test]
    fn rejects_a_lock_whose_count_a_late_release_lowered_to_nothing() {
        let story = |lowers: u16| {
            let count = |story: Story, ms, value: &str, client| {
                story.server(ms, 1, Change::Granted, value, Some(Node::Client(client)))
            };
            let story = Story::new().takes(2, 1, "a=1").leaves(3, 1).info(4, 1);
            let story = story.removed(5, "a=1", 1).acquires(6, 1);
            let story = count(count(story, 7, "a=1", 1), 8, "a=0", lowers);
            wrong_answers(story.removed(8, "a=0", lowers).hears(9, 1, "a=1")).len()
        };
        assert_eq!([story(1), story(2)], [1, 0], "another process may take the lock away");
    }

    #[test]
    fn rejects_a_validity_that_no_server_backs() {
        let stated = |ms| {
            let story = Story::new().ttl(1_000).acquires(1, 1).grants(2, 1, "a");
            wrong_answers(story.hears_validity(3, 1, "a", ms).with_recorded_leases())
        };
        assert_eq!(stated(990), [""; 0]);
        assert_eq!(stated(2_000).len(), 1);
    }
}
