//! Cause `lost-watch`: no watch told a process that it was first in the queue.

use super::entry::Entry;
use crate::explain::evidence::Case;
use crate::judge::meaning::Meaning;
use crate::judge::timeline::creator;
use crate::record::history::{Change, What};
use fencepost_faults::Node;

pub(super) static ENTRY: Entry = Entry { alone: Some(alone), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "The node of a waiting process is first in the queue, but no watch tells the process.",
    how: "A watch fires once, on the server where it was set. A client that switches servers \
          without setting its watches again misses changes.",
    helps: "Set watches again after each reconnect, as the Java client does by default; check the \
            queue again when the connection is back; wait with a timeout.",
};

fn alone(case: &Case<'_, '_>) -> String {
    let first = case.first_in_queue();
    if let Some(waiter) = waiter_without_node(case).filter(|_| first.is_none()) {
        let (node, session) = case.timeline.history.header.place();
        return format!(
            "{waiter} kept waiting although the servers had ended its {session} and deleted its \
             {node}: no watch notified it."
        );
    }
    let who = first.map_or("A process".to_owned(), |first| first.to_string());
    format!(
        "{who} kept waiting although it was its turn: no server kept the watch that would have \
         notified it."
    )
}

/// Returns a process that waits until the end although its node was deleted with its session
/// while it waited.
fn waiter_without_node(case: &Case<'_, '_>) -> Option<Node> {
    let history = case.timeline.history;
    let waiting = case.timeline.acquisitions.iter().filter(|one| one.completed.is_none());
    let mut waiting = waiting.filter(|one| case.finding.processes.contains(&one.process));
    let waiter = waiting.find(|one| {
        history.events[one.invoked.index..].iter().any(|event| match &event.what {
            What::Server { key, change: Change::Expired, value: Some(node), .. } => {
                *key == history.header.resource && creator(history, node) == Some(one.process)
            }
            _ => false,
        })
    });
    Some(waiter?.process)
}
