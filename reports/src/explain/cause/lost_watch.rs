use super::entry::{Entry, Tells};
use crate::explain::evidence::Case;

pub(super) static ENTRY: Entry = Entry {
    how: "A watch fires once, on the server where it was set. A client that switches servers \
          without setting its watches again misses changes.",
    helps: "Set watches again after each reconnect, as the Java client does by default; check the \
            queue again when the connection is back; wait with a timeout.",
    alone: Some(alone),
    tells: Tells::LostWatch,
    ..Entry::PLAIN
};

fn alone(case: &Case<'_, '_>) -> String {
    let first = case.first_in_queue();
    let without_node = case.timeline.waiter_without_node(&case.finding.processes);
    if let Some((waiter, _)) = without_node.filter(|_| first.is_none()) {
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
