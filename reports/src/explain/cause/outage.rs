//! Why a lock that was free was not had, though enough servers ran.
//!
//! In this order: all who wait slept on; a server was down or stood still meanwhile; messages were
//! held up; locks of attempts that were given up stood at a quorum of them; processes divided the
//! servers among them; a process died while it waited; the clocks by
//! which a row is read differ.

use super::{Cause, asleep, stuck};
use crate::judge::finding::Finding;
use crate::judge::timeline::{FaultSpan, Timeline};
use fencepost_faults::Impact;

pub(super) fn cause(timeline: &Timeline<'_>, finding: &Finding) -> Cause {
    let span = (finding.at, finding.at + finding.duration);
    let any = |acts: &dyn Fn(&FaultSpan<'_>) -> bool| {
        timeline.faults.iter().any(|fault| {
            fault.touches(span.0, span.1)
                && fault.nodes.iter().any(|node| node.is_server())
                && acts(fault)
        })
    };
    if asleep::slept_on(timeline, finding) {
        return asleep::unwoken(timeline);
    }
    if any(&|fault| matches!(fault.kind.impact(), Impact::Kills | Impact::Freezes)) {
        return Cause::ServerOutage;
    }
    if any(&|fault| fault.kind.impact() == Impact::HoldsUpMessages) {
        return Cause::Partition;
    }
    if let Some(cause) = stuck::of_standing_votes(timeline, span) {
        return cause;
    }
    if stuck::votes_are_split(timeline, span) {
        return Cause::Interleaving;
    }
    if stuck::waiter_died(timeline, span) {
        return Cause::WaiterCrash;
    }
    match stuck::clocks_differ(timeline, finding) {
        true => Cause::ClockSkew,
        false => Cause::Unexplained,
    }
}
