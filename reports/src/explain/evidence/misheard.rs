//! Why a process was told for certain what is not so.

use super::session;
use crate::judge::finding::Finding;
use crate::judge::timeline::{Acquisition, FaultSpan, Timeline};
use crate::record::history::What;
use fencepost_faults::{FaultKind, Impact, Node, SimTime};

/// What a process was told, and what kept it from hearing what is so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Misheard {
    /// It waited with a second node, and knew nothing of its first.
    OfAnotherNode,
    /// It was refused, and a fault came between it and a server.
    Refused(Obstacle),
    /// It was told that its command succeeded, and a fault came between.
    Succeeded(Obstacle),
    /// It was told either, and no fault came between it and the one server of a lock that does not
    /// live as long as a session or a connection.
    Unfounded,
}

/// What came between a process and a server while a call was open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Obstacle {
    /// Something that loses a message or a connection, or holds it up for as long as it lasts.
    Loss,
    /// Only what makes messages or a server slower.
    Delay,
    /// The process stood still, and nothing else did.
    Pause,
}

/// What came between a process and any of these servers between two instants, if something did.
pub(super) fn obstacle(
    timeline: &Timeline<'_>,
    process: Node,
    servers: &[Node],
    (from, until): (SimTime, SimTime),
) -> Option<Obstacle> {
    let process = process.machine();
    let faults = timeline.faults.iter().filter(|fault| fault.touches(from, until));
    let acted = faults.filter(|fault| keeps_from_hearing(fault, process, servers));
    let obstacles = acted.map(|fault| match fault.kind {
        FaultKind::Delay | FaultKind::SlowServer => Obstacle::Delay,
        _ if fault.does(Impact::Freezes, process) => Obstacle::Pause,
        _ => Obstacle::Loss,
    });
    obstacles.min_by_key(|obstacle| match obstacle {
        Obstacle::Loss => 0,
        Obstacle::Pause => 1,
        Obstacle::Delay => 2,
    })
}

/// What a process misheard: it waited with a second node; or, while its call was open, a fault held
/// up or lost what it and a server of the finding sent each other, or one of the two stood still or
/// died.
pub(super) fn of_finding(timeline: &Timeline<'_>, finding: &Finding) -> Option<Misheard> {
    let told = timeline.moment(*finding.witness.last()?);
    let events = &timeline.history.events;
    let invoked = |operation: &u64| Some(timeline.invocation_of(*operation)?.time);
    let is_undisturbed = |from| !timeline.faults.iter().any(|fault| fault.touches(from, told.time));
    let (from, misheard): (_, fn(Obstacle) -> Misheard) = match &events[told.index].what {
        // No fault makes a lock of what no server has.
        What::Ok { operation, .. } if timeline.acquisition_of(*operation).is_some() => {
            return is_undisturbed(invoked(operation)?).then_some(Misheard::Unfounded);
        }
        What::Ok { operation, .. } => (invoked(operation)?, Misheard::Succeeded),
        What::Fail { operation, .. } => (invoked(operation)?, Misheard::Refused),
        // A loss: what the process knew of its lock, it had heard when that changed last.
        What::Lost => (events[*finding.witness.first()?].time_us, Misheard::Refused),
        _ => return None,
    };
    let span = (from, told.time);
    let process = events[told.index].node;
    let is_refused = matches!(events[told.index].what, What::Fail { .. });
    if is_refused && session::contended_twice(timeline, process, span) {
        return Some(Misheard::OfAnotherNode);
    }
    let servers = finding.witness.iter().map(|index| events[*index].node);
    let servers: Vec<Node> = servers.filter(|node| node.is_server()).collect();
    let obstacle = obstacle(timeline, process, &servers, span);
    let has_ttl = !timeline.history.header.has_no_ttl();
    let is_unfounded = has_one_server_with_a_ttl(timeline) || has_ttl && is_undisturbed(from);
    obstacle.map(misheard).or(is_unfounded.then_some(Misheard::Unfounded))
}

/// Whether an acquire that came back without the lock cannot have missed the answer of the one
/// server: no fault was at work between any two hosts, or at one, while it was open.
pub(super) fn is_unfounded(timeline: &Timeline<'_>, refused: &Acquisition<'_>) -> bool {
    let Some(completed) = refused.completed else { return false };
    let mut faults =
        timeline.faults.iter().filter(|fault| fault.touches(refused.invoked.time, completed.time));
    has_one_server_with_a_ttl(timeline)
        && !faults.any(|fault| {
            !matches!(
                fault.kind.impact(),
                Impact::BendsClock | Impact::LosesKeys | Impact::TakesOver
            )
        })
}

fn has_one_server_with_a_ttl(timeline: &Timeline<'_>) -> bool {
    let header = &timeline.history.header;
    header.quorum <= 1 && !header.has_no_ttl()
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
