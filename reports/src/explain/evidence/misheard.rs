//! Why a process got a definite but wrong answer.

use super::period::Period;
use super::session;
use crate::judge::finding::Finding;
use crate::judge::timeline::{Acquisition, FaultSpan, Timeline};
use crate::record::history::What;
use fencepost_faults::{FaultKind, Impact, Node};

/// A process's wrong answer, and the obstacle to the right one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Misheard {
    /// It waited with a second node, unaware of its first.
    OfAnotherNode,
    /// It was refused, and a fault came between it and a server.
    Refused(Obstacle),
    /// Its command was confirmed, and a fault came between.
    Succeeded(Obstacle),
    /// Either answer, without a fault between it and the single server of a lock that does not live
    /// in a session or a connection.
    Unfounded,
}

/// An obstacle between a process and a server during a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Obstacle {
    /// A fault that loses a message or a connection, or blocks messages while it lasts.
    Loss,
    /// Only slower messages or a slower server.
    Delay,
    Pause,
}

/// The obstacle between a process and any of these servers between two instants, if there was one.
pub(super) fn obstacle(
    timeline: &Timeline<'_>,
    process: Node,
    servers: &[Node],
    Period { from, until }: Period,
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

/// The wrong answer: the process waited with a second node; or, during its call, a fault delayed or
/// lost its traffic with a server of the finding, or one of the two paused or crashed.
pub(super) fn of_finding(timeline: &Timeline<'_>, finding: &Finding) -> Option<Misheard> {
    let told = timeline.moment(*finding.witness.last()?);
    let events = &timeline.history.events;
    let invoked = |operation: &u64| Some(timeline.invocation_of(*operation)?.time);
    let is_undisturbed = |from| !timeline.faults.iter().any(|fault| fault.touches(from, told.time));
    let (from, misheard): (_, fn(Obstacle) -> Misheard) = match &events[told.index].what {
        // No fault creates a lock that no server has.
        What::Ok { operation, .. } if timeline.acquisition_of(*operation).is_some() => {
            return is_undisturbed(invoked(operation)?).then_some(Misheard::Unfounded);
        }
        What::Ok { operation, .. } => (invoked(operation)?, Misheard::Succeeded),
        What::Fail { operation, .. } => (invoked(operation)?, Misheard::Refused),
        // For a loss, the process last heard about its lock when the lock last changed.
        What::Lost => (events[*finding.witness.first()?].time_us, Misheard::Refused),
        _ => return None,
    };
    let span = Period { from, until: told.time };
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

/// Returns whether a refused acquire cannot have missed the answer of its single server: no fault
/// acted between any two hosts, or at one, while it was open.
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
