//! Releases that did not do what they were sent for: lost, held up, or carried out at another
//! server than the grant.

use super::Cause;
use crate::judge::finding::{Clash, Finding};
use crate::judge::timeline::{Acquisition, KeyEnd, Moment, Timeline};
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

/// Whether a release that a process sent before a moment may have been under way for longer than its
/// sender waited: it gave up, or died, without having heard how that ended. One that is in progress
/// is on its ordinary way.
pub(super) fn is_astray(timeline: &Timeline<'_>, process: Node, before: Moment) -> bool {
    let mut open = None;
    for event in &timeline.history.events[..before.index] {
        match &event.what {
            What::Crashed if event.node == process.machine() && open.is_some() => return true,
            _ if event.node != process => {}
            What::Invoke { operation, action: Action::Release } => open = Some(*operation),
            What::Info { operation, .. } if open == Some(*operation) => return true,
            What::Ok { operation, .. } | What::Fail { operation, .. }
                if open == Some(*operation) =>
            {
                open = None;
            }
            _ => {}
        }
    }
    false
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
pub(super) fn removal(timeline: &Timeline<'_>, finding: &Finding) -> Option<Moment> {
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

/// Why a process removed another's lock although its own was in force, or was never at that server:
/// its release had begun before the lock changed hands, and the process stood still in the middle
/// of it or the network held it up; or a failover had left its own lock elsewhere.
pub(super) fn astray(timeline: &Timeline<'_>, finding: &Finding, clash: Clash) -> Option<Cause> {
    let (remover, removed) = (*finding.processes.first()?, removal(timeline, finding)?);
    let changed_hands = timeline.acquisitions[clash.later].grant.as_ref()?.moment;
    if unknown(timeline, remover, removed).is_some_and(|sent| sent < changed_hands) {
        let paused = stood_still(timeline, remover, changed_hands, removed);
        return Some(if paused { Cause::HolderPause } else { Cause::LostRelease });
    }
    let own = &timeline.acquisitions[clash.earlier];
    let granted = own.grant.as_ref()?;
    let server = timeline.history.events[removed.index].node;
    let mut here = timeline.keys.iter().filter(|span| span.node == server && span.from < removed);
    let was_here = here.any(|span| timeline.is_lock_of(span, own));
    let is_replicated = timeline.history.header.quorum <= 1;
    (is_replicated && granted.node != server && !was_here).then_some(Cause::AsyncReplicationLoss)
}
