use crate::judge::finding::{Clash, Finding};
use crate::judge::timeline::{Acquisition, FaultSpan, KeyEnd, Moment, Timeline};
use crate::record::history::{Action, Change, What};
use fencepost_faults::{Impact, Node};
use std::collections::BTreeSet;

pub(crate) fn unknown(timeline: &Timeline<'_>, process: Node, before: Moment) -> Option<Moment> {
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

pub(crate) fn has_release_in_transit(
    timeline: &Timeline<'_>,
    process: Node,
    before: Moment,
) -> bool {
    release_in_transit(timeline, process, before).is_some()
}

fn release_in_transit(timeline: &Timeline<'_>, process: Node, before: Moment) -> Option<Moment> {
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

/// Returns whether a release of the process may still be in transit at `at`.
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

pub(crate) fn unanswered(timeline: &Timeline<'_>, process: Node, before: Moment) -> usize {
    let mut open = BTreeSet::new();
    for event in timeline.history.events[..before.index].iter() {
        match &event.what {
            _ if event.node.machine() != process.machine() => {}
            What::Invoke { operation, action: Action::Release } => {
                open.insert(*operation);
            }
            What::Ok { operation, .. } | What::Fail { operation, .. } => {
                open.remove(operation);
            }
            _ => {}
        }
    }
    open.len()
}

pub(crate) fn sent(timeline: &Timeline<'_>, process: Node, arrived: Moment) -> Option<Moment> {
    unknown(timeline, process, arrived).or_else(|| release_in_transit(timeline, process, arrived))
}

pub(super) fn is_open(timeline: &Timeline<'_>, process: Node, from: Moment, at: Moment) -> bool {
    unknown(timeline, process, at).is_some_and(|sent| from < sent)
}

/// Returns the thread that sent a command. If the history names no threads, returns the only thread
/// with an unconfirmed release, or the process if not exactly one thread has such a release.
pub(super) fn thread_of(timeline: &Timeline<'_>, by: Node, at: Moment) -> Node {
    let events = &timeline.history.events;
    let is_told = events
        .iter()
        .any(|event| matches!(event.what, What::Server { by: Some(by), .. } if by != by.machine()));
    let threads: BTreeSet<Node> = timeline
        .acquisitions
        .iter()
        .map(|one| one.process)
        .filter(|process| process.machine() == by.machine())
        .collect();
    if is_told || threads.len() < 2 {
        return by;
    }
    let mut releasing = threads.into_iter().filter(|one| unknown(timeline, *one, at).is_some());
    let sender = releasing.next();
    sender.filter(|_| releasing.next().is_none()).unwrap_or(by)
}

pub(super) fn early_removal(
    timeline: &Timeline<'_>,
    acquisition: &Acquisition<'_>,
) -> Option<Moment> {
    let (process, heard) = (acquisition.process, acquisition.completed?);
    timeline.keys.iter().find_map(|span| {
        let Some((removed, KeyEnd::Changed { change: Change::Removed, by: Some(by), .. })) =
            span.to
        else {
            return None;
        };
        let own = span.by == Some(process) && by == process;
        (own && acquisition.invoked < span.from && removed < heard).then_some(removed)
    })
}

pub(crate) fn removal(timeline: &Timeline<'_>, finding: &Finding) -> Option<Moment> {
    let mut witness = finding.witness.iter().map(|index| timeline.moment(*index));
    let is_removal = |what: &What| matches!(what, What::Server { change: Change::Removed, .. });
    witness.find(|moment| is_removal(&timeline.history.events[moment.index].what))
}

fn was_paused(
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LateRelease {
    InProcess,
    /// The server went down before it answered, so the process sent the release again.
    SentAgain,
    /// The release removed its own lock, was sent again, and removed another process's lock.
    SentTwice,
    AtPausedServer,
    InTransit,
}

fn was_down_between(timeline: &Timeline<'_>, server: Node, from: Moment, until: Moment) -> bool {
    let mut meanwhile = timeline.history.events[from.index..until.index].iter();
    meanwhile
        .any(|event| event.node == server && matches!(event.what, What::Crashed | What::Started))
}

/// Returns the pause during which the server received a command that it executed after the pause.
/// Returns `None` if the network may have delayed the command.
pub(crate) fn server_pause<'t, 'h>(
    timeline: &'t Timeline<'h>,
    (process, server): (Node, Node),
    sent: Moment,
    executed: Moment,
) -> Option<&'t FaultSpan<'h>> {
    let mut pauses = timeline.faults.iter().filter(|fault| fault.does(Impact::Freezes, server));
    let resumed = |pause: &&FaultSpan<'_>| {
        pause.to.filter(|to| sent < *to && *to < executed && pause.from < executed)
    };
    let pause = pauses.rfind(|pause| resumed(pause).is_some())?;
    let is_delayed = timeline.faults.iter().any(|fault| {
        let is_between = fault.names(process) && fault.names(server);
        is_between
            && fault.kind.impact() == Impact::HoldsUpMessages
            && fault.touches(sent.time, executed.time)
    });
    (!is_delayed).then_some(pause)
}

fn removed_between(
    timeline: &Timeline<'_>,
    (remover, server): (Node, Node),
    from: Moment,
    until: Moment,
) -> bool {
    let mut meanwhile = timeline.history.events[from.index..until.index].iter();
    let is_own = |what: &What| {
        matches!(what, What::Server { change: Change::Removed, by: Some(by), .. }
            if by.machine() == remover.machine())
    };
    meanwhile.any(|event| event.node == server && is_own(&event.what))
}

/// Returns how a release that began before another process's grant removed that process's lock.
pub(crate) fn late_release(
    timeline: &Timeline<'_>,
    remover: Node,
    removed: Moment,
    taker: &Acquisition<'_>,
) -> Option<LateRelease> {
    let changed_hands = taker.grant.as_ref()?.moment;
    let sent = unknown(timeline, remover, removed).filter(|sent| *sent < changed_hands);
    let server = timeline.history.events[removed.index].node;
    sent.map(|sent| match was_paused(timeline, remover, changed_hands, removed) {
        true => LateRelease::InProcess,
        false if was_down_between(timeline, server, sent, removed) => LateRelease::SentAgain,
        false if removed_between(timeline, (remover, server), sent, removed) => {
            LateRelease::SentTwice
        }
        false if server_pause(timeline, (remover, server), sent, removed).is_some() => {
            LateRelease::AtPausedServer
        }
        false => LateRelease::InTransit,
    })
}

pub(crate) fn was_never_recorded(timeline: &Timeline<'_>, finding: &Finding, clash: Clash) -> bool {
    let Some(removed) = removal(timeline, finding) else { return false };
    let own = &timeline.acquisitions[clash.earlier];
    let Some(granted) = own.grant.as_ref() else { return false };
    let server = timeline.history.events[removed.index].node;
    let mut here = timeline.keys.iter().filter(|span| span.node == server && span.from < removed);
    let was_here = here.any(|span| timeline.is_lock_of(span, own));
    let is_replicated = timeline.history.header.quorum <= 1;
    is_replicated && granted.node != server && !was_here
}
