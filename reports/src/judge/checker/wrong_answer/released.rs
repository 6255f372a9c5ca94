//! Checks what releases report to their callers.

use super::shortened::shortens_lease;
use super::{
    answer, contradicts, finding, is_quorum, is_settled, may_be_another_server, never_expires,
    remains, servers,
};
use crate::judge::finding::Finding;
use crate::judge::timeline::{
    Acquisition, KeyEnd, KeySpan, Moment, Outcome, Section, SectionEnd, Timeline, is_one_owner,
};
use crate::record::history::{Change, Keeping, What};
use fencepost_faults::Node;
use std::collections::BTreeSet;

pub(super) fn wrong_release(timeline: &Timeline<'_>, section: &Section) -> Option<Finding> {
    let invoked = section.to.filter(|_| section.ended_by == SectionEnd::Release)?;
    let What::Invoke { operation, .. } = timeline.history.events[invoked.index].what else {
        return None;
    };
    let (told, is_given_back) = answer(timeline, invoked, operation)?;
    let owner = timeline.acquisitions[section.acquisition].owner?;
    let own = |span: &&KeySpan<'_>| span.value.is_some_and(|value| is_one_owner(value, owner));
    let removed = |span: &&KeySpan<'_>| {
        matches!(span.to, Some((at, KeyEnd::Changed { change: Change::Removed, by: Some(by), .. }))
            if by == section.process && invoked < at && at < told)
    };
    let removed: Vec<&KeySpan<'_>> = timeline.keys.iter().filter(own).filter(removed).collect();
    let process = section.process;
    if !is_given_back && is_quorum(timeline, &removed) {
        return is_settled(timeline, process, invoked).then(|| {
            let what = format!(
                "{process} was told that it no longer held the lock, although its release had just \
                 removed the lock at {}.",
                servers(&removed)
            );
            let gone = removed.iter().filter_map(|span| Some(span.to?.0));
            finding(process, told, what, gone)
        });
    }
    if timeline.is_inner(section) || is_quorum(timeline, &removed) {
        return None;
    }
    let is_of_another_server = match is_given_back {
        true => removed_elsewhere(timeline, process, owner, (invoked, told)),
        false => may_be_another_server(timeline),
    };
    if is_of_another_server || has_given_up_earlier(timeline, section) {
        return None;
    }
    let mut standing = remaining_values(timeline, process, (invoked, told), owner);
    if timeline.history.header.quorum <= 1 {
        // The new primary may have answered, and it never had the lock.
        standing.retain(|span| !timeline.roles.is_replaced(span.node, told));
    }
    contradicts(timeline, &standing, told).then(|| {
        let told_so = match is_given_back {
            true => "it had released the lock",
            false => "it no longer held the lock",
        };
        let what = format!(
            "{process} was told that {told_so}, but the lock remained at {}.",
            servers(&standing)
        );
        finding(process, told, what, standing.iter().map(|span| span.from))
    })
}

/// Returns `true` if the application gave up an earlier call of the process whose outcome is
/// unknown. Such a call may leave the lock's count wrong.
fn has_given_up_earlier(timeline: &Timeline<'_>, section: &Section) -> bool {
    let left = section.to.map_or(0, |left| left.index);
    let mut open: BTreeSet<u64> = BTreeSet::new();
    for event in &timeline.history.events[..left] {
        match &event.what {
            What::GivenUp { operation, .. }
                if event.node.machine() == section.process.machine() =>
            {
                open.insert(*operation);
            }
            What::Ok { operation, .. } | What::Fail { operation, .. } => {
                open.remove(operation);
            }
            _ => {}
        }
    }
    !open.is_empty()
}

/// Returns `true` if an earlier call of the process had an unknown outcome, or an earlier acquire
/// was refused although a server counts it. A later release may then rightly leave a lower count.
fn may_count_an_unknown_call(timeline: &Timeline<'_>, process: Node, invoked: Moment) -> bool {
    let before = &timeline.history.events[..invoked.index];
    before.iter().any(|event| {
        event.node.machine() == process.machine() && matches!(event.what, What::Info { .. })
    }) || timeline.acquisitions.iter().any(|one| {
        one.process.machine() == process.machine() && was_refused_but_counts(timeline, one, invoked)
    })
}

/// Returns `true` if a server counts the refused acquire, even if it executed the acquire after the
/// refusal. Such a late grant does not count while the process has another acquire open.
fn was_refused_but_counts(
    timeline: &Timeline<'_>,
    one: &Acquisition<'_>,
    released: Moment,
) -> bool {
    let Some(told) = one.completed.filter(|_| one.outcome == Outcome::Refused) else {
        return false;
    };
    let is_acquiring = |at: Moment| timeline.acquiring(one.process, at).is_some();
    timeline.keys.iter().any(|span| {
        span.by == Some(one.process)
            && one.invoked < span.from
            && span.from < released
            && match span.from < told {
                true => remains(timeline, span, told),
                false => !timeline.is_lowered(span) && !is_acquiring(span.from),
            }
    })
}

/// Returns `true` if the release removed another owner's value, for a lock without a quorum.
/// Another copy of a replicated lock may have had this value.
fn removed_elsewhere(
    timeline: &Timeline<'_>,
    process: Node,
    owner: &str,
    (invoked, told): (Moment, Moment),
) -> bool {
    let is_removed = |span: &KeySpan<'_>| {
        matches!(span.to, Some((at, KeyEnd::Changed { change: Change::Removed, by: Some(by), .. }))
            if by == process && invoked < at && at < told)
    };
    let is_others = |span: &KeySpan<'_>| !span.value.is_some_and(|it| is_one_owner(it, owner));
    timeline.history.header.quorum <= 1
        && timeline.keys.iter().any(|span| is_others(span) && is_removed(span))
}

/// Returns the owner's values that remained after the release, except those that a command in
/// transit may have removed later.
fn remaining_values<'t, 'h>(
    timeline: &'t Timeline<'h>,
    process: Node,
    (invoked, told): (Moment, Moment),
    owner: &str,
) -> Vec<&'t KeySpan<'h>> {
    // A database grants a session's own lock again without a change of the lock, so such an acquire
    // has no recorded owner.
    let is_of_connection = timeline.history.header.kept_as == Some(Keeping::Connection);
    let is_same = |one: &&Acquisition<'_>| {
        one.process == process
            && told < one.invoked
            && one.outcome == Outcome::Granted
            && one.owner.map_or(is_of_connection, |again| is_one_owner(again, owner))
    };
    let again = timeline.acquisitions.iter().find(is_same).and_then(|one| one.completed);
    let outlasts =
        |gone: Option<Moment>| again.is_some_and(|again| gone.is_none_or(|gone| again < gone));
    let is_told = |span: &KeySpan<'_>| match span.to {
        Some((_, KeyEnd::Changed { change: Change::Expired, .. })) => true,
        Some((gone, KeyEnd::Changed { by: Some(_), .. })) => {
            never_expires(timeline, span) || outlasts(Some(gone))
        }
        Some((gone, _)) => outlasts(Some(gone)),
        None => span.runs_out.is_some() || never_expires(timeline, span) || outlasts(None),
    };
    let own = |span: &&KeySpan<'_>| span.value.is_some_and(|value| is_one_owner(value, owner));
    // The release may only have lowered the count. The key then belongs to an earlier acquisition.
    let counts_all = !may_count_an_unknown_call(timeline, process, invoked);
    let is_lowered =
        |span: &KeySpan<'_>| counts_all && timeline.is_lowered(span) && span.from < told;
    let is_earlier = |span: &KeySpan<'_>| span.from < invoked || is_lowered(span);
    let here = |span: &&KeySpan<'_>| {
        span.by == Some(process)
            && is_earlier(span)
            && is_told(span)
            && !shortens_lease(timeline, span, (process, invoked, told))
    };
    let standing = timeline.keys.iter().filter(own).filter(here);
    standing.filter(|span| remains(timeline, span, told)).collect()
}
