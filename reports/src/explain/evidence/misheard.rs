//! Why a process was told for certain what is not so.

use super::session;
use crate::judge::finding::Finding;
use crate::judge::timeline::{FaultSpan, Timeline};
use crate::record::history::What;
use fencepost_faults::{Impact, Node};

/// What a process was told, and what kept it from hearing what is so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Misheard {
    /// It waited with a second node, and knew nothing of its first.
    OfAnotherNode,
    /// It was refused, and a fault held up or lost what it and a server sent each other.
    Refused,
    /// It was told that its command succeeded, and a fault did the same.
    Succeeded,
}

/// What a process misheard: it waited with a second node; or, while its call was open, a fault held
/// up or lost what it and a server of the finding sent each other, or one of the two stood still or
/// died.
pub(super) fn of_finding(timeline: &Timeline<'_>, finding: &Finding) -> Option<Misheard> {
    let told = timeline.moment(*finding.witness.last()?);
    let events = &timeline.history.events;
    let (operation, misheard) = match &events[told.index].what {
        What::Ok { operation, .. } => (operation, Misheard::Succeeded),
        What::Fail { operation, .. } => (operation, Misheard::Refused),
        _ => return None,
    };
    let span = (timeline.invocation_of(*operation)?.time, told.time);
    let process = events[told.index].node;
    if misheard == Misheard::Refused && session::contended_twice(timeline, process, span) {
        return Some(Misheard::OfAnotherNode);
    }
    let servers = finding.witness.iter().map(|index| events[*index].node);
    let servers: Vec<Node> = servers.filter(|node| node.is_server()).collect();
    let mut faults = timeline.faults.iter().filter(|fault| fault.touches(span.0, span.1));
    faults.any(|fault| keeps_from_hearing(fault, process.machine(), &servers)).then_some(misheard)
}

fn keeps_from_hearing(fault: &FaultSpan<'_>, process: Node, servers: &[Node]) -> bool {
    let names_server = servers.iter().any(|server| fault.names(*server));
    match fault.kind.impact() {
        Impact::HoldsUpMessages | Impact::LosesReply | Impact::LosesRequest => {
            fault.names(process) && names_server
        }
        Impact::Freezes | Impact::Slows | Impact::Kills => fault.names(process) || names_server,
        Impact::IsOperated => names_server,
        Impact::BendsClock | Impact::LosesKeys | Impact::TakesOver => false,
    }
}
