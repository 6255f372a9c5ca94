//! Pairs each invocation with its completion, if any, for external checkers.

use crate::record::history::{Action, Event, History, What};
use fencepost_faults::Node;
use std::collections::BTreeMap;

pub(crate) struct Operation<'h> {
    /// Process number in Jepsen's sense: it changes after an operation with an unknown outcome.
    pub(crate) thread: u64,
    pub(crate) process: Node,
    pub(crate) action: &'h Action,
    pub(crate) invoked: &'h Event,
    pub(crate) completed: Option<&'h Event>,
}

impl Operation<'_> {
    pub(crate) fn is_known(&self) -> bool {
        self.completed
            .is_some_and(|event| matches!(event.what, What::Ok { .. } | What::Fail { .. }))
    }
}

pub(crate) fn all(history: &History) -> Vec<Operation<'_>> {
    let mut operations: Vec<Operation<'_>> = Vec::new();
    let mut by_number: BTreeMap<u64, usize> = BTreeMap::new();
    let mut threads: BTreeMap<Node, u64> = BTreeMap::new();
    let mut open: BTreeMap<Node, usize> = BTreeMap::new();
    let mut next = 0;
    for event in &history.events {
        match &event.what {
            What::Invoke { operation, action } => {
                let left_open = open.insert(event.node, operations.len());
                let forgets = left_open.is_some_and(|index| !operations[index].is_known());
                if forgets || !threads.contains_key(&event.node) {
                    threads.insert(event.node, next);
                    next += 1;
                }
                by_number.insert(*operation, operations.len());
                let thread = threads[&event.node];
                operations.push(Operation {
                    thread,
                    process: event.node,
                    action,
                    invoked: event,
                    completed: None,
                });
            }
            What::Ok { operation, .. }
            | What::Fail { operation, .. }
            | What::Info { operation, .. } => {
                if let Some(index) = by_number.get(operation) {
                    operations[*index].completed = Some(event);
                }
            }
            _ => {}
        }
    }
    operations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;

    #[test]
    fn a_process_that_does_not_know_goes_on_under_another_number() {
        let story = Story::new().acquires(1, 1).crashes(5, 1).starts(6, 1);
        let history = story.takes(7, 1, "a").releases(8, 1).takes(9, 2, "b").build();
        let operations = all(&history);
        assert!(
            operations.iter().any(|operation| operation.completed.is_none()),
            "the story leaves some open"
        );
        for (index, one) in operations.iter().enumerate().filter(|(_, one)| !one.is_known()) {
            assert!(operations[index + 1..].iter().all(|later| later.thread != one.thread));
        }
    }
}
