//! Finds out whether a late write was delayed or was sent late.

use crate::judge::finding::Clash;
use crate::judge::timeline::{FaultSpan, Moment, SectionEnd, Timeline};
use crate::record::history::What;
use fencepost_faults::{Impact, Micros, Node};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum InFlightWrite {
    Delayed,
    OfPausedProcess,
    AfterLeaving,
    /// No fault or pause delayed the write, and the writer left before the lock changed hands.
    OfFormerHolder,
}

pub(crate) fn sent(timeline: &Timeline<'_>, clash: Clash) -> Option<(Moment, Node)> {
    let What::Storage { operation, by, .. } = timeline.history.events[clash.late_write?].what
    else {
        return None;
    };
    Some((timeline.invocation_of(operation)?, by))
}

pub(super) fn of_clash(timeline: &Timeline<'_>, clash: Clash) -> Option<InFlightWrite> {
    let landed = timeline.moment(clash.late_write?);
    let (sent, by) = sent(timeline, clash)?;
    if let Some(section) = timeline.section_of(clash.earlier)
        && section.ended_by == SectionEnd::Release
        && section.process == by
        && section.to.is_some_and(|left| left < sent)
    {
        return Some(InFlightWrite::AfterLeaving);
    }
    let changed_hands = timeline.acquisitions[clash.later].grant.as_ref()?.moment;
    if changed_hands < sent || landed < changed_hands {
        return None;
    }
    let during = |fault: &&FaultSpan<'_>| fault.touches(sent.time, landed.time);
    if timeline.faults.iter().filter(during).any(holds_up_storage) {
        return Some(InFlightWrite::Delayed);
    }
    if timeline.paused(by, sent.time, landed.time) > Micros::ZERO {
        return Some(InFlightWrite::OfPausedProcess);
    }
    let left = timeline.section_of(clash.earlier).and_then(|section| section.to);
    left.is_some_and(|left| left < changed_hands).then_some(InFlightWrite::OfFormerHolder)
}

pub(crate) fn holds_up_storage(fault: &FaultSpan<'_>) -> bool {
    fault.names(Node::Storage)
        && match fault.kind.impact() {
            Impact::HoldsUpMessages | Impact::Freezes | Impact::Slows | Impact::Kills => true,
            Impact::LosesReply
            | Impact::LosesRequest
            | Impact::BendsClock
            | Impact::LosesKeys
            | Impact::TakesOver
            | Impact::IsOperated => false,
        }
}
