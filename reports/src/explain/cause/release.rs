//! Releases that did not do what they were sent for: lost, held up, or carried out at another
//! server than the grant.

use super::{Cause, session};
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::timeline::{Acquisition, FaultSpan, KeyEnd, Moment, Timeline};
use crate::record::history::{Action, Change, What};
use fencepost_faults::{Impact, Node};

/// When a process sent its last release before a moment, if it did not know by then how that ended,
/// or never came to know.
pub(super) fn unknown(timeline: &Timeline<'_>, process: Node, before: Moment) -> Option<Moment> {
    let mut unknown = None;
    for (index, event) in timeline.history.events[..before.index].iter().enumerate() {
        match &event.what {
            _ if event.node != process => {}
            What::Invoke { operation, action: Action::Release } => {
                unknown = Some((*operation, index))
            }
            What::Ok { operation, .. } | What::Fail { operation, .. }
                if unknown.is_some_and(|(release, _)| release == *operation) =>
            {
                unknown = None;
            }
            _ => {}
        }
    }
    unknown.map(|(_, index)| timeline.moment(index))
}

/// Why a process was told for certain what is not so: it waited with a second node, and knew
/// nothing of its first; or, while its call was open, a fault held up or lost what it and a server
/// of the finding sent each other, or one of the two stood still or died.
pub(super) fn misheard(timeline: &Timeline<'_>, finding: &Finding) -> Cause {
    let told = finding.witness.last().map(|index| timeline.moment(*index));
    let Some((told, what)) = told.map(|told| (told, &timeline.history.events[told.index].what))
    else {
        return Cause::Unexplained;
    };
    let (operation, cause) = match what {
        What::Ok { operation, .. } => (operation, Cause::LostRelease),
        What::Fail { operation, .. } => (operation, Cause::LostReply),
        _ => return Cause::Unexplained,
    };
    let events = &timeline.history.events;
    let process = events[told.index].node.machine();
    let servers = finding.witness.iter().map(|index| events[*index].node);
    let servers: Vec<Node> = servers.filter(|node| node.is_server()).collect();
    let keeps_from_hearing = |fault: &FaultSpan<'_>| {
        let names_server = servers.iter().any(|server| fault.names(*server));
        match fault.kind.impact() {
            Impact::HoldsUpMessages | Impact::LosesReply => fault.names(process) && names_server,
            Impact::Freezes | Impact::Slows | Impact::Kills => fault.names(process) || names_server,
            Impact::IsOperated => names_server,
            Impact::BendsClock | Impact::LosesKeys | Impact::TakesOver => false,
        }
    };
    let Some(invoked) = timeline.invocation_of(*operation) else { return Cause::Unexplained };
    let span = (invoked.time, told.time);
    if cause == Cause::LostReply
        && session::contended_twice(timeline, events[told.index].node, span)
    {
        return Cause::OrphanNode;
    }
    let mut faults = timeline.faults.iter();
    match faults.any(|fault| keeps_from_hearing(fault) && fault.touches(span.0, span.1)) {
        true => cause,
        false => Cause::Unexplained,
    }
}

/// Whether a release that a process sent before a moment may have been under way for longer than
/// its sender waited: it gave up, or died, without having heard how that ended. One that is in
/// progress is on its ordinary way.
pub(super) fn is_astray(timeline: &Timeline<'_>, process: Node, before: Moment) -> bool {
    stray(timeline, process, before).is_some()
}

/// When a process had sent the release that was astray by then: the last of which it gave up, or
/// died, without having heard how it ended.
fn stray(timeline: &Timeline<'_>, process: Node, before: Moment) -> Option<Moment> {
    let (mut open, mut stray) = (None, None);
    for (index, event) in timeline.history.events[..before.index].iter().enumerate() {
        match &event.what {
            What::Crashed if event.node == process.machine() => stray = open.take().or(stray),
            _ if event.node != process => {}
            What::Invoke { operation, action: Action::Release } => open = Some((*operation, index)),
            What::Info { operation, .. } if open.is_some_and(|(one, _)| one == *operation) => {
                stray = open.take();
            }
            What::Ok { operation, .. } | What::Fail { operation, .. }
                if open.is_some_and(|(one, _)| one == *operation) =>
            {
                open = None;
            }
            _ => {}
        }
    }
    stray.map(|(_, index)| timeline.moment(index))
}

/// Whether a release that was astray may arrive at a moment: one of them has removed nothing by
/// then. What a process removes while no release of it is open, a release of before has removed.
pub(super) fn may_arrive(timeline: &Timeline<'_>, process: Node, at: Moment) -> bool {
    let (mut open, mut astray) = (None, 0_usize);
    for event in &timeline.history.events[..at.index] {
        match &event.what {
            What::Server { change: Change::Removed, by: Some(by), .. }
                if *by == process && open.is_none() =>
            {
                astray = astray.saturating_sub(1);
            }
            What::Crashed if event.node == process.machine() => {
                astray += usize::from(open.take().is_some());
            }
            _ if event.node != process => {}
            What::Invoke { operation, action: Action::Release } => open = Some(*operation),
            What::Info { operation, .. } if open == Some(*operation) => {
                (open, astray) = (None, astray + 1);
            }
            What::Ok { operation, .. } | What::Fail { operation, .. }
                if open == Some(*operation) =>
            {
                open = None;
            }
            _ => {}
        }
    }
    astray > 0
}

/// When a process had sent the release that arrived at a moment: its last, if it had not heard by
/// then how that ended, or an earlier one that was astray.
pub(in crate::explain) fn sent(
    timeline: &Timeline<'_>,
    process: Node,
    arrived: Moment,
) -> Option<Moment> {
    unknown(timeline, process, arrived).or_else(|| stray(timeline, process, arrived))
}

/// Whether a process began a release between two moments.
pub(super) fn began_between(
    timeline: &Timeline<'_>,
    process: Node,
    from: Moment,
    until: Moment,
) -> bool {
    let meanwhile = &timeline.history.events[from.index..until.index];
    let is_release = |what: &What| matches!(what, What::Invoke { action: Action::Release, .. });
    meanwhile.iter().any(|event| event.node == process && is_release(&event.what))
}

/// How a command of a process removed a lock before the process heard that it was granted: a
/// release of an earlier lock that was under way all the time, or another command of the acquire.
pub(super) fn took_back(timeline: &Timeline<'_>, acquisition: &Acquisition<'_>) -> Option<Cause> {
    let (process, heard) = (acquisition.process, acquisition.completed?);
    timeline.keys.iter().find_map(|span| {
        let Some((removed, KeyEnd::Changed { change: Change::Removed, by: Some(by), .. })) =
            span.to
        else {
            return None;
        };
        let own = span.by == Some(process) && by == process;
        let taken_back = own && acquisition.invoked < span.from && removed < heard;
        let astray = || is_astray(timeline, process, removed);
        taken_back.then(|| if astray() { Cause::LostRelease } else { Cause::EarlyRelease })
    })
}

/// The removal that a finding tells of.
pub(in crate::explain) fn removal(timeline: &Timeline<'_>, finding: &Finding) -> Option<Moment> {
    let mut witness = finding.witness.iter().map(|index| timeline.moment(*index));
    let is_removal = |what: &What| matches!(what, What::Server { change: Change::Removed, .. });
    witness.find(|moment| is_removal(&timeline.history.events[moment.index].what))
}

/// Whether the process stood still while the lock changed hands, and removed it after that: what it
/// had to send next waited for it, not for the network.
fn stood_still(
    timeline: &Timeline<'_>,
    process: Node,
    changed_hands: Moment,
    removed: Moment,
) -> bool {
    let mut pauses = timeline.faults.iter().filter(|fault| fault.does(Impact::Freezes, process));
    pauses.any(|pause| {
        pause.from < changed_hands && pause.to.is_some_and(|to| changed_hands < to && to < removed)
    })
}

/// Why a process removed another's lock whose release had begun before the lock changed hands: the
/// process stood still in the middle of it, or the network held it up.
fn held_up(timeline: &Timeline<'_>, finding: &Finding, clash: Clash) -> Option<Cause> {
    let (remover, removed) = (*finding.processes.first()?, removal(timeline, finding)?);
    let changed_hands = timeline.acquisitions[clash.later].grant.as_ref()?.moment;
    let sent = unknown(timeline, remover, removed).filter(|sent| *sent < changed_hands);
    sent.map(|_| match stood_still(timeline, remover, changed_hands, removed) {
        true => Cause::HolderPause,
        false => Cause::LostRelease,
    })
}

/// The same for a lease that the server counted in whole seconds: its last second did not matter to
/// one that had left its section by then.
pub(super) fn held_up_beyond_the_last_second(
    timeline: &Timeline<'_>,
    finding: &Finding,
    clash: Clash,
    cause: Cause,
) -> Option<Cause> {
    let is_so = finding.kind == Kind::ForeignRelease && cause == Cause::CoarseExpiry;
    if is_so { held_up(timeline, finding, clash) } else { None }
}

/// Why a process removed another's lock although its own was in force, or was never at that server:
/// its release was held up, or a failover had left its own lock elsewhere.
pub(super) fn astray(timeline: &Timeline<'_>, finding: &Finding, clash: Clash) -> Option<Cause> {
    if let Some(cause) = held_up(timeline, finding, clash) {
        return Some(cause);
    }
    let removed = removal(timeline, finding)?;
    let own = &timeline.acquisitions[clash.earlier];
    let granted = own.grant.as_ref()?;
    let server = timeline.history.events[removed.index].node;
    let mut here = timeline.keys.iter().filter(|span| span.node == server && span.from < removed);
    let was_here = here.any(|span| timeline.is_lock_of(span, own));
    let is_replicated = timeline.history.header.quorum <= 1;
    (is_replicated && granted.node != server && !was_here).then_some(Cause::AsyncReplicationLoss)
}
