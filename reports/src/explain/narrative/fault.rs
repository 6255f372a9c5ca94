//! Describes faults in sentences.

use crate::judge::timeline::FaultSpan;
use fencepost_faults::{FaultKind, Impact, Node, SimTime};

pub(super) fn begins(fault: &FaultSpan<'_>) -> String {
    let (nodes, id) = (names(fault.nodes), fault.id);
    match fault.kind {
        FaultKind::Pause => format!("{nodes} is paused (fault {id})."),
        FaultKind::Suspend => {
            format!("{nodes} and its monotonic clock are suspended (fault {id}).")
        }
        FaultKind::Crash => format!("{nodes} crashes (fault {id})."),
        FaultKind::PowerLoss => format!("{nodes} loses power (fault {id})."),
        // A history does not record the sides of a partition or the direction of a delay.
        FaultKind::Partition => match fault.nodes {
            [one, other] => {
                format!("A network partition between {one} and {other} begins (fault {id}).")
            }
            _ => format!("A network partition begins (fault {id})."),
        },
        FaultKind::Delay => match fault.nodes {
            [one, other] => {
                format!("Some messages between {one} and {other} are delayed (fault {id}).")
            }
            _ => format!("Some messages are delayed (fault {id})."),
        },
        FaultKind::ClockDrift => {
            format!("The clocks of {nodes} start to run at a wrong rate (fault {id}).")
        }
        FaultKind::ClockJump => format!("The wall clock of {nodes} is stepped (fault {id})."),
        FaultKind::LostReply => match fault.nodes {
            [server, asker] => format!("A reply of {server} to {asker} is lost (fault {id})."),
            _ => format!("A reply between {nodes} is lost (fault {id})."),
        },
        FaultKind::LostRequest => match fault.nodes {
            [asker, server] => format!("A request of {asker} to {server} is lost (fault {id})."),
            _ => format!("A request between {nodes} is lost (fault {id})."),
        },
        FaultKind::SlowServer => format!("{nodes} becomes slow (fault {id})."),
        FaultKind::Evict => format!("{nodes} is out of memory and evicts keys (fault {id})."),
        FaultKind::FlushAll => format!("An operator flushes {nodes} (fault {id})."),
        FaultKind::Promote => format!("An operator promotes {nodes} to primary (fault {id})."),
        FaultKind::Operator => {
            format!("An operator runs a command on {nodes} (fault {id}).")
        }
    }
}

/// Relevance of a fault to a clash, in the order in which a narrative selects faults.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relevance {
    /// Names the process that was granted the lock earlier, and bends no clock.
    OfHolder,
    /// Stopped servers or took their data or roles between the two grants.
    OfServers,
    /// Names the process that was granted the lock later, and bends no clock.
    OfTaker,
    Other,
}

pub(super) fn relevance(
    fault: &FaultSpan<'_>,
    [holder, taker]: [Node; 2],
    is_between: bool,
) -> Relevance {
    match fault.kind.impact() {
        _ if takes_data(fault) && is_between => Relevance::OfServers,
        Impact::BendsClock => Relevance::Other,
        _ if fault.names(holder) => Relevance::OfHolder,
        _ if fault.names(taker) => Relevance::OfTaker,
        _ => Relevance::Other,
    }
}

/// Returns whether the fault stops servers or takes their data or roles.
pub(super) fn takes_data(fault: &FaultSpan<'_>) -> bool {
    let impact = fault.kind.impact();
    matches!(impact, Impact::Kills | Impact::LosesKeys | Impact::TakesOver)
        && fault.nodes.iter().all(|node| node.is_server())
}

/// Returns whether the fault had passed without a trace before the first grant.
pub(super) fn is_over(fault: &FaultSpan<'_>, granted: SimTime) -> bool {
    let is_instant = matches!(fault.kind.impact(), Impact::LosesKeys | Impact::TakesOver);
    is_instant && fault.from.time < granted
}

pub(super) fn names(nodes: &[Node]) -> String {
    let names: Vec<String> = nodes.iter().map(Node::to_string).collect();
    names.join(", ")
}
