//! From a finding to its cause, in a stated order.
//!
//! A lock that was removed by a process that was asking for it is a `stale-takeover`, and tokens of
//! servers that share no counter are `unordered-tokens`. Two threads of one process that rest on
//! one grant, or of which one removes what the other uses, have a `shared-owner`, and processes
//! that the row of a database does not tell apart a `shared-client-id`. The order, for two
//! acquisitions that stood against each other:
//! 1. A process that had the lock to itself wrote what it had computed from an older value (see
//!    `old_value`).
//! 2. A harmful write that was sent while the lock was still its writer's: what held it up on the
//!    way (`storage-delay`, `holder-pause`).
//! 3. Where a lock lives as long as a session or a connection: that it ended (see `session`).
//! 4. The later one was granted before the earlier lease was over: how the earlier lock was lost at
//!    the servers (see `early_loss`).
//! 5. The earlier lease was over: why its holder was still there (see `overrun`).
//! 6. Of a foreign release that none of these explains: where the release had been (see `release`).
//!
//! Why nobody gets in is told by `stuck`, why one that waits is not woken by `asleep`, and why a
//! lock that must be had was not by `outage`.

use super::{
    Cause, asleep, early_loss, old_value, outage, overrun, release, session, stuck, takeover,
};
use crate::judge::finding::{Clash, Finding, Kind};
use crate::judge::timeline::{FaultSpan, SectionEnd, Timeline};
use crate::record::history::{Change, Keeping, What};
use fencepost_faults::{FaultKind, Impact, Micros, Node};

/// Why this happened; `unexplained` if the rules do not decide it.
pub fn classify(timeline: &Timeline<'_>, finding: &Finding) -> Cause {
    match (finding.kind, finding.clash) {
        (Kind::Stuck, _) => stuck::cause(timeline, finding),
        (Kind::Deadlock, _) => asleep::cause(timeline, finding),
        (Kind::Starved, _) if finding.processes.len() > 1 => Cause::LostPlace,
        (Kind::Starved, _) => asleep::cause(timeline, finding),
        (Kind::HeldForever, _) => held_forever(timeline, finding),
        (Kind::Unavailable, _) => outage::cause(timeline, finding),
        (Kind::WrongAnswer, _) => release::misheard(timeline, finding),
        (_, Some(clash)) if shares_owner(timeline, clash) => Cause::SharedOwner,
        (_, Some(clash)) if shares_client_id(timeline, clash) => Cause::SharedClientId,
        (Kind::ForeignRelease, _) if was_takeover(timeline, finding) => Cause::StaleTakeover,
        (_, None) => Cause::Unexplained,
        (_, Some(clash)) if old_value::is_overwritten(timeline, finding, clash) => Cause::OldValue,
        (Kind::TokenRegression | Kind::FencedOut, Some(clash)) => counter_loss(timeline, clash),
        (kind, Some(clash)) => {
            let cause = in_flight(timeline, clash)
                .or_else(|| session::of_clash(timeline, clash))
                .or_else(|| early_loss::cause(timeline, clash))
                .or_else(|| overrun::cause(timeline, clash))
                .filter(|cause| *cause != Cause::Unexplained)
                .map(|cause| {
                    release::held_up_beyond_the_last_second(timeline, finding, clash, cause)
                        .unwrap_or(cause)
                });
            let astray = || {
                release::astray(timeline, finding, clash).filter(|_| kind == Kind::ForeignRelease)
            };
            cause.or_else(astray).unwrap_or(Cause::Unexplained)
        }
    }
}

/// Whether both are of one process, by different threads, under one owner value, and a server let
/// the later one in because it took it for the earlier.
fn shares_owner(timeline: &Timeline<'_>, clash: Clash) -> bool {
    let [one, other] = [clash.earlier, clash.later].map(|index| &timeline.acquisitions[index]);
    let threads = one.process != other.process && one.process.machine() == other.process.machine();
    let grants = one.grant.as_ref().zip(other.grant.as_ref());
    let found = grants.is_some_and(|(one, other)| one.moment == other.moment || !other.created);
    threads && one.owner == other.owner && found
}

/// Whether both are of different processes, which a row of a database does not tell apart.
fn shares_client_id(timeline: &Timeline<'_>, clash: Clash) -> bool {
    let [one, other] = [clash.earlier, clash.later].map(|index| &timeline.acquisitions[index]);
    let is_row = matches!(
        timeline.history.header.kept_as,
        Some(Keeping::RowByClients | Keeping::RowByServer)
    );
    is_row && one.process.machine() != other.process.machine() && one.owner == other.owner
}

/// Whether the removal that a finding tells of was a waiter's.
fn was_takeover(timeline: &Timeline<'_>, finding: &Finding) -> bool {
    let remover = finding.processes.first();
    remover
        .zip(release::removal(timeline, finding))
        .is_some_and(|(remover, removed)| takeover::is_stale_takeover(timeline, *remover, removed))
}

/// A write that was sent before the later acquisition was granted and landed after it.
fn in_flight(timeline: &Timeline<'_>, clash: Clash) -> Option<Cause> {
    let landed = timeline.moment(clash.late_write?);
    let What::Storage { operation, by, .. } = timeline.history.events[landed.index].what else {
        return None;
    };
    let sent = timeline.invocation_of(operation)?;
    let changed_hands = timeline.acquisitions[clash.later].grant.as_ref()?.moment;
    if changed_hands < sent || landed < changed_hands {
        return None;
    }
    let during = |fault: &&FaultSpan<'_>| fault.touches(sent.time, landed.time);
    if timeline.faults.iter().filter(during).any(holds_up_storage) {
        return Some(Cause::StorageDelay);
    }
    if overrun::paused(timeline, by, sent.time, landed.time) > Micros::ZERO {
        return Some(Cause::HolderPause);
    }
    let left = timeline.section_of(clash.earlier).and_then(|section| section.to);
    left.is_some_and(|left| left < changed_hands).then_some(Cause::StorageDelay)
}

/// Whether a fault holds up what is sent to the storage.
pub(super) fn holds_up_storage(fault: &FaultSpan<'_>) -> bool {
    fault.names(Node::Storage)
        && match fault.kind.impact() {
            Impact::HoldsUpMessages | Impact::Freezes | Impact::Slows | Impact::Kills => true,
            Impact::LosesReply
            | Impact::BendsClock
            | Impact::LosesKeys
            | Impact::TakesOver
            | Impact::IsOperated => false,
        }
}

/// Why a counter of tokens went back between two grants.
fn counter_loss(timeline: &Timeline<'_>, clash: Clash) -> Cause {
    let [earlier, later] =
        [clash.earlier, clash.later].map(|index| timeline.acquisitions[index].grant.as_ref());
    let (Some(earlier), Some(later)) = (earlier, later) else { return Cause::Unexplained };
    if timeline.history.header.quorum > 1 {
        return Cause::UnorderedTokens;
    }
    let nodes = [earlier.node, later.node];
    let key = &timeline.history.header.resource;
    let between = timeline.history.events.iter().skip(earlier.moment.index);
    let between = between.take(later.moment.index.saturating_sub(earlier.moment.index));
    let between: Vec<&What> =
        between.filter(|event| nodes.contains(&event.node)).map(|event| &event.what).collect();
    let any = |matches: fn(&What, &str) -> bool| between.iter().any(|what| matches(what, key));
    if any(|what, _| is_change(what, Change::Flushed) || is_fault(what, FaultKind::FlushAll)) {
        Cause::Flush
    } else if any(
        |what, lock| matches!(what, What::Server { key, change: Change::Evicted, .. } if key != lock),
    ) {
        Cause::Eviction
    } else if early_loss::two_primaries(timeline, earlier, (later.node, later.moment)) {
        Cause::SplitBrain
    } else if earlier.node != later.node || any(|what, _| is_change(what, Change::Discarded)) {
        Cause::AsyncReplicationLoss
    } else if any(|what, _| is_change(what, Change::Forgotten) || matches!(what, What::Crashed)) {
        Cause::RestartDataLoss
    } else {
        Cause::Unexplained
    }
}

fn is_change(what: &What, wanted: Change) -> bool {
    matches!(what, What::Server { change, .. } if *change == wanted)
}

fn is_fault(what: &What, wanted: FaultKind) -> bool {
    matches!(what, What::FaultBegan { kind, .. } if *kind == wanted)
}

/// Why a holder keeps the lock: it stood still, or it worked on.
fn held_forever(timeline: &Timeline<'_>, finding: &Finding) -> Cause {
    let section = timeline
        .sections
        .iter()
        .find(|section| Some(&section.from.index) == finding.witness.first());
    let (Some(section), Some(bound)) = (section, timeline.history.header.held_bound_us) else {
        return Cause::Unexplained;
    };
    let end = section.ends(timeline.end);
    let paused = overrun::paused(timeline, section.process, section.from.time, end);
    let worked = end.since(section.from.time) - paused;
    match paused > Micros::ZERO && worked <= bound && section.ended_by != SectionEnd::Crash {
        true => Cause::HolderPause,
        false => Cause::HoldTooLong,
    }
}
