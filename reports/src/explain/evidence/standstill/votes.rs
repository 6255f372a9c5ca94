//! Finds processes that each locked only some of the servers, and the locks that they left behind.

use super::Standstill;
use super::owner::{of_owner, unaware};
use super::spans::values_for_most_of;
use crate::explain::evidence::period::Period;
use crate::judge::timeline::{KeyEnd, KeySpan, Moment, Timeline};
use crate::record::history::Change;
use fencepost_faults::{Node, SimTime};
use std::collections::BTreeSet;

/// Returns whether most of the votes that processes gave back during the period belonged to
/// attempts without a quorum, because other processes had the votes of other servers meanwhile.
pub(super) fn votes_are_split(timeline: &Timeline<'_>, Period { from, until }: Period) -> bool {
    let quorum = usize::from(timeline.history.header.quorum);
    let given_back = |span: &&KeySpan<'_>| {
        let removed = |end| {
            let (_, KeyEnd::Changed { change, by, .. }) = end else { return false };
            change == Change::Removed && by == span.by
        };
        from <= span.from.time
            && span.to.is_some_and(|end| {
                end.0.time <= until && removed(end) && is_attempt(timeline, span, end.0)
            })
    };
    let votes: Vec<&KeySpan<'_>> =
        timeline.keys.iter().filter(|span| span.by.is_some()).filter(given_back).collect();
    let servers: BTreeSet<Node> = votes.iter().map(|span| span.node).collect();
    let contended = votes.iter().filter(|vote| is_contended(timeline, vote, quorum)).count();
    quorum > 1 && servers.len() >= quorum && 2 * contended > votes.len()
}

/// Returns whether the vote's process had no quorum at any time while it had the vote, and another
/// process had another server's vote meanwhile.
fn is_contended(timeline: &Timeline<'_>, vote: &KeySpan<'_>, quorum: usize) -> bool {
    let meanwhile: Vec<&KeySpan<'_>> = timeline
        .keys
        .iter()
        .filter(|other| {
            timeline.exists_at(other, vote.from) || timeline.exists_at(vote, other.from)
        })
        .collect();
    let own = || meanwhile.iter().filter(|other| other.by == vote.by).chain([&vote]);
    let has_quorum = own().any(|last| {
        let earlier = own().filter(|one| timeline.exists_at(one, last.from));
        let servers: BTreeSet<Node> = earlier.map(|one| one.node).chain([last.node]).collect();
        servers.len() >= quorum
    });
    let is_of_another = |other: &&KeySpan<'_>| {
        other.by.is_some_and(|by| Some(by) != vote.by) && other.node != vote.node
    };
    !has_quorum && meanwhile.iter().any(is_of_another)
}

pub(super) fn of_standing_votes(timeline: &Timeline<'_>, span: Period) -> Option<Standstill> {
    let quorum = usize::from(timeline.history.header.quorum);
    let votes: Vec<&KeySpan<'_>> = values_for_most_of(timeline, span).collect();
    let servers: BTreeSet<Node> = votes.iter().map(|vote| vote.node).collect();
    let reason = |vote: &&KeySpan<'_>| match was_given_up(timeline, vote, span.until) {
        true => {
            let meanwhile = Period { from: vote.from.time, until: span.until };
            Some(unaware(timeline, vote.by?, vote.node, meanwhile))
        }
        false => of_owner(timeline, vote, span.until),
    };
    (quorum > 1 && servers.len() >= quorum).then(|| votes.iter().find_map(reason)).flatten()
}

fn was_given_up(timeline: &Timeline<'_>, vote: &KeySpan<'_>, until: SimTime) -> bool {
    let mut attempts = timeline.acquisitions.iter().rev();
    let attempt = attempts.find(|one| Some(one.process) == vote.by && one.invoked < vote.from);
    let completed = attempt.and_then(|one| one.completed);
    timeline.keys.iter().any(|later| {
        later.by == vote.by
            && later.value != vote.value
            && vote.from < later.from
            && later.from.time <= until
            && completed.is_none_or(|completed| later.from < completed)
    })
}

fn is_attempt(timeline: &Timeline<'_>, span: &KeySpan<'_>, ended: Moment) -> bool {
    timeline.acquisitions.iter().any(|one| {
        Some(one.process) == span.by
            && one.invoked < span.from
            && one.completed.is_none_or(|completed| ended < completed)
    })
}
