//! Checks that each definite answer of a lock is true:
//!
//! - After a refusal, the value that the process wrote must not remain at the servers.
//! - After a failed release, the lock must not remain, and the release must not have removed it.
//! - After a confirmed release, the lock must not remain, unless the release shortened its lease.
//! - `granted` checks grants, and `lost` checks reported losses.
//!
//! Except for a grant, a quorum of servers must contradict the answer. An answer does not count as
//! wrong if a command in transit or a failover may explain it.

mod granted;
mod lost;
mod released;
mod shortened;

pub(crate) use granted::{Unsupported, too_few, unsupported, was_granted, was_over};

use super::Checker;
use crate::judge::finding::{Finding, Kind};
use crate::judge::meaning::Meaning;
use crate::judge::timeline::{
    Acquisition, KeyEnd, KeySpan, Moment, Outcome, Section, Timeline, is_one_owner,
};
use crate::record::history::{Action, Change, What};
use crate::record::listed::listed;
use fencepost_faults::{Micros, Node};
use std::collections::BTreeSet;

/// Numbers this large are times or randomly chosen owner values, not counts.
const COUNT_MAX: u64 = 1_000_000;

pub(super) const CHECKER: Checker = Checker { name: "wrong-answer", check };

pub(super) const MEANING: Meaning = Meaning {
    how: "A reply was lost. The client sent the command again and treated the second answer as the \
          only one, or it read an error as a refusal.",
    helps: "Tell the caller that the outcome is unknown. When a command finds its caller's own \
            value, the lock was granted: compare the value before refusing.",
};

fn check(timeline: &Timeline<'_>) -> Vec<Finding> {
    let refused = timeline.acquisitions.iter().filter_map(|one| refused_while_held(timeline, one));
    let left =
        timeline.sections.iter().filter_map(|section| released::wrong_release(timeline, section));
    let mut findings: Vec<Finding> = refused.chain(left).collect();
    if is_key_with_lease(timeline) {
        findings.extend(granted::check(timeline));
        findings.extend(lost::check(timeline));
    }
    findings.sort_by_key(|finding| (finding.at, finding.witness.clone()));
    findings
}

pub(crate) fn is_key_with_lease(timeline: &Timeline<'_>) -> bool {
    let header = &timeline.history.header;
    header.kept_as.is_none() && !header.has_no_ttl()
}

/// Returns `true` if the history shows that the value has no expiry.
pub(crate) fn never_expires(timeline: &Timeline<'_>, span: &KeySpan<'_>) -> bool {
    let is_told = timeline.history.ended.is_some() && span.by.is_some();
    is_told && is_key_with_lease(timeline) && span.runs_out.is_none()
}

fn machine_of(span: &KeySpan<'_>) -> Option<Node> {
    span.by.or(span.granted.map(|(by, _)| by)).map(Node::machine)
}

fn refused_while_held(timeline: &Timeline<'_>, one: &Acquisition<'_>) -> Option<Finding> {
    let told = one.completed.filter(|_| one.outcome == Outcome::Refused)?;
    let is_inside =
        |section: &Section| section.process == one.process && section.covers(one.invoked);
    if timeline.sections.iter().any(is_inside) {
        return None;
    }
    let wrote = |span: &&KeySpan<'_>| {
        span.by == Some(one.process)
            && one.invoked < span.from
            && span.from < told
            && remains(timeline, span, told)
            && !overwrote(timeline, span, one.invoked)
    };
    let mut standing: Vec<&KeySpan<'_>> = timeline.keys.iter().filter(wrote).collect();
    let last = standing.last()?.value?;
    standing.retain(|span| span.value.is_some_and(|value| is_one_owner(value, last)));
    let is_wrong =
        contradicts(timeline, &standing, told) && is_settled(timeline, one.process, one.invoked);
    is_wrong.then(|| {
        let process = one.process;
        let refused = attempt_with(timeline, one, last);
        let earlier = refused.completed.filter(|at| *at < told);
        let when = earlier.map_or(String::new(), |at| format!(" at {}", at.time));
        let what = format!(
            "{process} was told{when} that it did not get the lock, but {} held the value that \
             {process} had written.",
            servers(&standing)
        );
        finding(process, told, what, standing.iter().map(|span| span.from).chain(earlier))
    })
}

/// Returns the acquire to which the value belongs: `one` or, if `one` wrote another value, the
/// refused acquire that wrote the value first. A command of that acquire may have arrived late.
pub(crate) fn attempt_with<'t, 'h>(
    timeline: &'t Timeline<'h>,
    one: &'t Acquisition<'h>,
    value: &str,
) -> &'t Acquisition<'h> {
    let is_then = |of: &Acquisition<'_>, span: &KeySpan<'_>| {
        of.invoked < span.from && of.completed.is_none_or(|told| span.from < told)
    };
    let own = || timeline.keys.iter().filter(|span| span.by == Some(one.process));
    let has_value = |span: &&KeySpan<'_>| span.value.is_some_and(|is| is_one_owner(is, value));
    let has_another = own().any(|span| !has_value(&span) && is_then(one, span));
    let first = own().filter(has_value).min_by_key(|span| span.from).filter(|_| has_another);
    let mut earlier = timeline.acquisitions.iter().filter(|other| other.process == one.process);
    let wrote = first.and_then(|first| earlier.find(|other| is_then(other, first)));
    wrote.filter(|other| other.outcome == Outcome::Refused).unwrap_or(one)
}

/// Returns `true` if the earlier lock calls of the process have known outcomes.
fn is_settled(timeline: &Timeline<'_>, process: Node, by: Moment) -> bool {
    let mut open: BTreeSet<u64> = BTreeSet::new();
    for event in &timeline.history.events[..by.index] {
        match &event.what {
            What::Invoke { action: Action::Read { .. } | Action::Write { .. }, .. } => {}
            What::Invoke { operation, .. } if event.node.machine() == process.machine() => {
                open.insert(*operation);
            }
            What::Ok { operation, .. } | What::Fail { operation, .. } => {
                open.remove(operation);
            }
            _ => {}
        }
    }
    open.is_empty()
}

fn may_be_another_server(timeline: &Timeline<'_>) -> bool {
    let nodes: BTreeSet<Node> = timeline.keys.iter().map(|span| span.node).collect();
    timeline.history.header.quorum <= 1 && nodes.len() > 1
}

fn answer(timeline: &Timeline<'_>, invoked: Moment, wanted: u64) -> Option<(Moment, bool)> {
    let later = timeline.history.events.iter().enumerate().skip(invoked.index + 1);
    later.into_iter().find_map(|(index, event)| match event.what {
        What::Ok { operation, .. } if operation == wanted => Some((timeline.moment(index), true)),
        What::Fail { operation, .. } if operation == wanted => {
            Some((timeline.moment(index), false))
        }
        _ => None,
    })
}

/// Returns `true` if the value replaced another process's value. If a process increases a shared
/// counter with each attempt, skips the counts that the process itself wrote after `since`.
fn overwrote(timeline: &Timeline<'_>, span: &KeySpan<'_>, since: Moment) -> bool {
    let replaced_by = |later: &KeySpan<'_>| {
        let (node, end) = (later.node, Some((later.from, KeyEnd::Replaced)));
        timeline.keys.iter().find(|other| other.node == node && other.to == end)
    };
    let is_count = |key: &KeySpan<'_>| {
        key.value.and_then(|value| value.parse().ok()).is_some_and(|count: u64| count < COUNT_MAX)
    };
    let is_own_count = |other: &&KeySpan<'_>| {
        other.by == span.by && since < other.from && is_count(other) && is_count(span)
    };
    let mut before = replaced_by(span);
    while let Some(own) = before.filter(is_own_count) {
        before = replaced_by(own);
    }
    before.is_some_and(|other| other.by != span.by)
}

/// Returns `true` if the value exists at `at`, the process that wrote it does not remove it before
/// acquiring again, and, for a replicated lock, no other server has lost its copy.
fn remains(timeline: &Timeline<'_>, span: &KeySpan<'_>, at: Moment) -> bool {
    let taken_back = || {
        let Some((gone, KeyEnd::Changed { change: Change::Removed, by, .. })) = span.to else {
            return false;
        };
        let mut later = timeline.acquisitions.iter();
        let again = later
            .find(|one| Some(one.process) == span.by && at < one.invoked)
            .map(|one| one.invoked);
        by == span.by && again.is_none_or(|again| gone < again)
    };
    timeline.exists_at(span, at) && !taken_back() && !was_removed_elsewhere(timeline, span, at)
}

fn was_removed_elsewhere(timeline: &Timeline<'_>, span: &KeySpan<'_>, at: Moment) -> bool {
    timeline.history.header.quorum <= 1
        && timeline.keys.iter().any(|copy| {
            let is_one = copy.value.zip(span.value).is_some_and(|(a, b)| is_one_owner(a, b));
            let went = copy.to.is_some_and(|(gone, _)| span.from < gone && gone < at);
            copy.node != span.node && is_one && went
        })
}

fn contradicts(timeline: &Timeline<'_>, standing: &[&KeySpan<'_>], at: Moment) -> bool {
    let Some(first) = standing.first() else { return false };
    let replicated = timeline.history.header.quorum <= 1;
    let elsewhere = |other: &KeySpan<'_>| {
        other.by.is_some() && other.node != first.node && first.from < other.from && other.from < at
    };
    is_quorum(timeline, standing) && !(replicated && timeline.keys.iter().any(elsewhere))
}

fn is_quorum(timeline: &Timeline<'_>, spans: &[&KeySpan<'_>]) -> bool {
    let nodes: BTreeSet<Node> = spans.iter().map(|span| span.node).collect();
    nodes.len() >= usize::from(timeline.history.header.quorum.max(1))
}

fn servers(spans: &[&KeySpan<'_>]) -> String {
    let nodes: BTreeSet<Node> = spans.iter().map(|span| span.node).collect();
    listed(nodes, "and")
}

fn finding(
    process: Node,
    told: Moment,
    what: String,
    shown: impl Iterator<Item = Moment>,
) -> Finding {
    let shown = shown.chain([told]).map(|moment| moment.index);
    Finding {
        kind: Kind::WrongAnswer,
        at: told.time,
        duration: Micros::ZERO,
        processes: vec![process],
        what,
        witness: super::sorted(shown.collect()),
        clash: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::history::{Keeping, Turn};
    use crate::record::story::Story;

    fn wrong_answers(story: Story) -> usize {
        check(&Timeline::new(&story.build())).len()
    }

    #[test]
    fn who_is_refused_has_nothing_standing() {
        let refused = Story::new().acquires(1, 1).grants(2, 1, "a").fails(3, 1);
        assert_eq!(wrong_answers(refused), 1);
        let other = Story::new().takes(1, 2, "b").acquires(2, 1).fails(3, 1);
        assert_eq!(wrong_answers(other), 0);
        let taken_back = Story::new().acquires(1, 1).grants(2, 1, "a").removed(2, "a", 1);
        assert_eq!(wrong_answers(taken_back.fails(3, 1)), 0);
        let under_way = Story::new().acquires(1, 1).grants(2, 1, "a").fails(3, 1);
        assert_eq!(wrong_answers(under_way.removed(4, "a", 1).acquires(5, 1)), 0);
        let open = Story::new().acquires(1, 1).grants(2, 1, "a").info(3, 1);
        assert_eq!(wrong_answers(open), 0, "it says that it does not know");
        let late = Story::new().acquires(1, 1).info(2, 1).acquires(3, 1).grants(4, 1, "a");
        assert_eq!(wrong_answers(late.fails(5, 1)), 0, "the first acquire may have written it");
    }

    #[test]
    fn who_overwrites_the_lock_of_another_and_is_refused_is_told_the_truth() {
        let story = |held, first| Story::new().takes(1, 2, held).acquires(2, 1).grants(3, 1, first);
        assert_eq!(wrong_answers(story("b", "a").fails(4, 1)), 0);
        let counted = story("1", "2").grants(4, 1, "3").fails(5, 1);
        assert_eq!(wrong_answers(counted), 0, "a counter goes up with each attempt");
        let taken_over = story("b", "a").grants(4, 1, "c").fails(5, 1);
        assert_eq!(wrong_answers(taken_over), 1, "it had the lock when it asked again");
        let free = Story::new().acquires(2, 1).grants(3, 1, "1").grants(4, 1, "2");
        assert_eq!(wrong_answers(free.fails(5, 1)), 1, "it was the first");
        let kept = Story::new().takes(1, 2, "b").acquires(2, 1).grants(3, 1, "a").info(4, 1);
        let kept = kept.acquires(5, 1).grants(6, 1, "c").fails(7, 1);
        assert_eq!(wrong_answers(kept), 0, "the first acquire has no known outcome");
    }

    #[test]
    fn what_is_gone_at_one_server_of_a_replicated_lock_stands_at_none() {
        let story = Story::new().acquires(1, 1).grants(2, 1, "a").replicated(2, 2, "a");
        assert_eq!(wrong_answers(story.removed_at(3, 2, "a", 1).fails(4, 1)), 0);
    }

    #[test]
    fn of_many_servers_a_quorum_speaks_against_a_refusal() {
        let story = |servers: u16| {
            let asked = Story::with_quorum(2).acquires(1, 1);
            (1..=servers).fold(asked, |story, redis| story.grants_at(2, 1, redis, "a")).fails(3, 1)
        };
        assert_eq!([1, 2, 3].map(|servers| wrong_answers(story(servers))), [0, 1, 1]);
        let of_two_attempts = Story::with_quorum(2).acquires(1, 1).grants_at(2, 1, 1, "a");
        assert_eq!(wrong_answers(of_two_attempts.grants_at(2, 1, 2, "b").fails(3, 1)), 0);
    }

    #[test]
    fn who_is_told_that_it_no_longer_held_the_lock_has_not_removed_it_by_that() {
        let left = || Story::new().takes(1, 1, "a").leaves(3, 1);
        assert_eq!(wrong_answers(left().removed(4, "a", 1).fails(5, 1)), 1);
        assert_eq!(wrong_answers(left().removed(4, "a", 1).left(5, 1)), 0);
        assert_eq!(wrong_answers(left().removed(4, "a", 2).fails(5, 1)), 0, "another did");
        let before = Story::new().takes(1, 1, "a").expires(2, "a").leaves(3, 1);
        assert_eq!(wrong_answers(before.fails(5, 1)), 0);
        assert_eq!(wrong_answers(left().fails(5, 1).expires(11, "a")), 1, "it stood on");
        assert_eq!(
            wrong_answers(left().fails(5, 1).with_recorded_leases()),
            1,
            "it stands forever"
        );
        let taken_back = left().fails(5, 1).removed(6, "a", 1);
        assert_eq!(wrong_answers(taken_back), 0, "the command was on its way");
        let promoted = left().fails(5, 1).grants_at(6, 2, 2, "b").expires(11, "a");
        assert_eq!(wrong_answers(promoted), 0, "another server may have answered");
        let ended = || left().fails(5, 1).server(6, 1, Change::Removed, "a", None);
        assert_eq!(wrong_answers(ended()), 0, "it may have prevented by its session");
        let again = |owner: &str| {
            let story = left().fails(5, 1).acquires(6, 1).hears(7, 1, owner);
            wrong_answers(story.server(8, 1, Change::Removed, "a", None))
        };
        assert_eq!(again("a"), 1, "it stood when its owner was granted it again");
        assert_eq!(again("b"), 0, "another session has it");
        let session = Story::kept_as(Keeping::Connection).takes(1, 1, "a").leaves(3, 1).fails(5, 1);
        let session = session.server(6, 1, Change::Removed, "a", None);
        assert_eq!(wrong_answers(session.acquires(7, 1).hears(8, 1, "a")), 0);
        let late = Story::new().takes(1, 1, "a").leaves(2, 1).info(3, 1).takes(4, 1, "a");
        let late = late.leaves(5, 1).removed(6, "a", 1).fails(7, 1);
        assert_eq!(wrong_answers(late), 0, "the first release may have removed it");
    }

    #[test]
    fn a_release_on_another_connection_leaves_the_lock_of_the_first_connection() {
        let story = |acquires_again: bool| {
            let story = Story::kept_as(Keeping::Connection).takes(1, 1, "7");
            let story = story.leaves(3, 1).left(5, 1);
            // The database grants the session's own lock again, and records no change.
            let story = if acquires_again { story.acquires(6, 1).left(7, 1) } else { story };
            wrong_answers(story.removed(9, "7", 1))
        };
        assert_eq!(story(true), 1);
        assert_eq!(story(false), 0, "the command was in transit");
    }

    #[test]
    fn what_is_told_to_be_given_back_does_not_stand_on() {
        let left = || Story::new().takes(1, 1, "a").leaves(3, 1);
        assert_eq!(wrong_answers(left().left(5, 1).expires(11, "a")), 1);
        assert_eq!(wrong_answers(left().left(5, 1).with_recorded_leases()), 1);
        assert_eq!(wrong_answers(left().removed(4, "a", 1).left(5, 1)), 0);
        let for_ever = || left().left(5, 1).removed(60, "a", 2);
        assert_eq!(wrong_answers(for_ever().runs_out_of_time(90)), 1, "it has no expiry");
        let counts = Story::new().takes(1, 1, "a=2").leaves(3, 1);
        let lowered = counts.server(4, 1, Change::Granted, "a=1", Some(Node::Client(1)));
        assert_eq!(wrong_answers(lowered.left(5, 1).expires(14, "a=1")), 1, "one count is left");
        let doubtful = Story::new().takes(1, 1, "a=1").leaves(2, 1).info(3, 1).takes(4, 1, "a=2");
        let doubtful = doubtful.leaves(5, 1);
        let doubtful = doubtful.server(6, 1, Change::Granted, "a=1", Some(Node::Client(1)));
        let doubtful = doubtful.left(7, 1).expires(16, "a=1");
        assert_eq!(wrong_answers(doubtful), 0, "its first release may not have been applied");
        let refused = Story::new().acquires(1, 1).grants(2, 1, "a=1").fails(3, 1);
        let refused = refused.takes(4, 1, "a=2").leaves(5, 1);
        let refused = refused.server(6, 1, Change::Granted, "a=1", Some(Node::Client(1)));
        let refused = refused.left(7, 1).expires(16, "a=1");
        assert_eq!(wrong_answers(refused), 1, "only the refusal is wrong");
        let late = |is_refused: bool| {
            let story = Story::new();
            let story = if is_refused { story.acquires(1, 1).fails(2, 1) } else { story };
            let story = story.takes(3, 1, "a=1");
            let story = story.server(4, 1, Change::Granted, "a=2", Some(Node::Client(1)));
            let story = story.leaves(5, 1);
            let story = story.server(6, 1, Change::Granted, "a=1", Some(Node::Client(1)));
            wrong_answers(story.left(7, 1).expires(16, "a=1"))
        };
        assert_eq!(late(true), 0, "the server executed the refused acquire later");
        assert_eq!(late(false), 1);
        let open = left().info(5, 1).expires(11, "a");
        assert_eq!(wrong_answers(open), 0, "it says that it does not know");
        let gone = Story::new().takes(1, 1, "a").expires(2, "a").leaves(3, 1);
        assert_eq!(wrong_answers(gone.left(5, 1)), 0);
        let inner = |gives_up: bool| {
            let story = Story::new().takes(1, 1, "a").acquires(2, 1);
            let story = if gives_up { story.cancels(2, 1) } else { story.info(2, 1) };
            wrong_answers(story.leaves(3, 1).left(5, 1).expires(11, "a"))
        };
        assert_eq!(inner(false), 1);
        assert_eq!(inner(true), 0, "it may have been taken twice, and was given back once");
        let again = |gives_up: bool| {
            let story = Story::new().takes(1, 1, "a").leaves(2, 1);
            let story = if gives_up { story.cancels(2, 1) } else { story.info(2, 1) };
            let story = story.removed(2, "a", 1).takes(3, 1, "a").leaves(4, 1).left(5, 1);
            wrong_answers(story.expires(13, "a"))
        };
        assert_eq!(again(false), 1);
        assert_eq!(again(true), 0, "the lock may count the first still");
        let at_another = Story::new().takes(1, 1, "a").grants_at(2, 2, 2, "b");
        let at_another = at_another.leaves(3, 1).left(5, 1).expires(11, "a");
        assert_eq!(wrong_answers(at_another), 0, "two primaries");
        let replaced = |turn| {
            let promoted = What::Turn { turn, about: None };
            let story = Story::new().takes(1, 1, "a").event(2, Node::Redis(2), promoted);
            wrong_answers(story.leaves(3, 1).left(5, 1).expires(11, "a"))
        };
        assert_eq!(replaced(Turn::Promoted), 0, "the new primary may have answered");
        assert_eq!(replaced(Turn::Follows), 1);
        let copy = |remover| {
            let story = Story::new().grants_at(0, 2, 2, "b").takes(1, 1, "a").leaves(3, 1);
            wrong_answers(story.removed_at(4, 2, "b", remover).left(5, 1).expires(11, "a"))
        };
        assert_eq!([copy(1), copy(3)], [0, 1], "the other copy carried out this release");
    }
}
