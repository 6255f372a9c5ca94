use crate::judge::timeline::FaultSpan;
use fencepost_faults::{FaultKind, Node};

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

pub(super) fn names(nodes: &[Node]) -> String {
    let names: Vec<String> = nodes.iter().map(Node::to_string).collect();
    names.join(", ")
}
