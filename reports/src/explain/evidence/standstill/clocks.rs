//! Finds database rows that seem locked because processes' clocks differ.

use crate::judge::finding::Finding;
use crate::judge::timeline::{FaultSpan, Timeline};
use crate::record::history::Keeping;
use fencepost_faults::Impact;

pub(super) fn clocks_differ(timeline: &Timeline<'_>, finding: &Finding) -> bool {
    timeline.history.header.kept_as == Some(Keeping::RowByClients)
        && wrong_clock(timeline, finding).is_some()
}

pub(crate) fn wrong_clock<'t, 'h>(
    timeline: &'t Timeline<'h>,
    finding: &Finding,
) -> Option<&'t FaultSpan<'h>> {
    let until = finding.at + finding.duration;
    let ended = timeline.keys.iter().rev().filter_map(|span| span.to);
    let last = ended.filter(|(at, _)| at.time <= until).max_by_key(|(at, _)| *at);
    let remover = last.and_then(|(at, _)| timeline.asked_by(at));
    let takes_part = |fault: &FaultSpan<'_>| {
        finding.processes.iter().chain(&remover).any(|node| fault.names(*node))
    };
    timeline.faults.iter().rev().find(|fault| {
        fault.kind.impact() == Impact::BendsClock && fault.from.time <= until && takes_part(fault)
    })
}
