use super::entry::Entry;
use crate::explain::evidence::Case;
use crate::record::history::What;
use fencepost_faults::{Node, SimTime};
use std::collections::BTreeSet;

pub(super) static ENTRY: Entry = Entry {
    how: "The message arrived before the process listened, went to another process, or was never \
          sent: Redis delivers published messages at most once, and announces an expiry only to \
          clients that asked for it. Or the process waits for another thread of its own, not for a \
          server.",
    helps: "Ask again after subscribing, and never wait for longer than a lease.",
    alone: Some(alone),
    ..Entry::PLAIN
};

fn alone(case: &Case<'_, '_>) -> String {
    let (from, until) = (case.finding.at, case.finding.at + case.finding.duration);
    let silent_if = |is_meant: &dyn Fn(SimTime, SimTime) -> bool| -> BTreeSet<Node> {
        let events = case.timeline.history.events.iter();
        let silent = events.filter(|event| match event.what {
            What::Silent { since_us, .. } => is_meant(since_us, event.time_us),
            _ => false,
        });
        silent
            .map(|event| event.node)
            .filter(|node| case.finding.processes.contains(node))
            .collect()
    };
    let silent = silent_if(&|since, told| since <= from && from <= told);
    let later = silent_if(&|since, _| from < since && since <= until);
    if silent.is_empty() || silent.len() > 1 && !later.is_subset(&silent) {
        return "The lock became free. The waiting processes sent no further request that could \
                acquire it."
            .to_owned();
    }
    match (silent.len(), silent.first()) {
        (1, Some(next)) if case.finding.processes.len() > 1 => {
            let mut keys = case.timeline.keys.iter();
            let why = match keys.any(|span| span.from.time == until && span.by == Some(*next)) {
                true => "was next",
                false => "had asked first",
            };
            format!(
                "The lock became free, but {next}, which {why}, sent nothing to a server after \
                 that."
            )
        }
        (1, Some(alone)) => {
            format!("The lock became free, but {alone} sent nothing to a server after that.")
        }
        _ => "The lock became free, but the waiting processes sent nothing to a server after that."
            .to_owned(),
    }
}
