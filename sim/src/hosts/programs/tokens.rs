//! Interprets locks that are a token in a list. The list exists while the lock is free.

use fencepost_faults::Node;
use fencepost_reports::{Action, Change, Event, What};
use std::collections::BTreeMap;

pub(super) fn read(events: &mut Vec<Event>) {
    if !are_tokens(events) {
        return;
    }
    let mut taken: BTreeMap<Node, String> = BTreeMap::new();
    events.retain_mut(|event| {
        let node = event.node;
        let What::Server { change, value, by, lease_us, .. } = &mut event.what else { return true };
        *lease_us = None;
        match (*change, *by) {
            (Change::Removed, Some(by)) => {
                let owner = format!("the token, taken by {}", by.machine());
                (*change, *value) = (Change::Granted, Some(owner.clone()));
                taken.insert(node, owner);
                true
            }
            (Change::Granted, _) => {
                let owner = taken.remove(&node);
                (*change, *value) = (Change::Removed, owner);
                value.is_some()
            }
            _ => false,
        }
    });
    for (sequence, event) in events.iter_mut().enumerate() {
        event.sequence = sequence as u64;
    }
}

fn are_tokens(events: &[Event]) -> bool {
    let mut asking: BTreeMap<u64, Node> = BTreeMap::new();
    let (mut taken, mut written) = (0, 0);
    for event in events {
        match &event.what {
            What::Invoke { operation, action: Action::Acquire } => {
                asking.insert(*operation, event.node.machine());
            }
            What::Ok { operation, .. }
            | What::Fail { operation, .. }
            | What::Info { operation, .. } => {
                asking.remove(operation);
            }
            What::Crashed => asking.retain(|_, machine| *machine != event.node),
            What::Server { change, by: Some(by), .. } => {
                let is_asking = asking.values().any(|machine| *machine == by.machine());
                match change {
                    Change::Removed if is_asking => taken += 1,
                    Change::Granted | Change::Extended if is_asking => written += 1,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    taken >= 2 && written == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_faults::SimTime;

    fn event(node: Node, what: What) -> Event {
        Event { sequence: 0, time_us: SimTime(0), node, what }
    }

    fn server(change: Change, by: u16) -> Event {
        let (key, value, by) = ("k".to_owned(), Some("t".to_owned()), Some(Node::Client(by)));
        let (primary, token, lease_us) = (true, None, None);
        event(Node::Redis(1), What::Server { key, change, value, by, primary, token, lease_us })
    }

    fn cycle(operation: u64, client: u16, takes: Event) -> [Event; 3] {
        let node = Node::Client(client);
        let invoke = What::Invoke { operation, action: Action::Acquire };
        let ok = What::Ok { operation, owner: None, token: None, valid_for_us: None, value: None };
        [event(node, invoke), takes, event(node, ok)]
    }

    fn changes(mut events: Vec<Event>) -> Vec<(Change, Option<String>)> {
        read(&mut events);
        let told = events.into_iter().filter_map(|event| match event.what {
            What::Server { change, value, .. } => Some((change, value)),
            _ => None,
        });
        told.collect()
    }

    #[test]
    fn a_token_that_is_taken_is_a_grant_and_one_that_is_put_back_a_removal() {
        let mut events = vec![server(Change::Granted, 1)];
        events.extend(cycle(1, 1, server(Change::Removed, 1)));
        events.push(server(Change::Granted, 1));
        events.extend(cycle(2, 2, server(Change::Removed, 2)));
        let owner = |client: u16| Some(format!("the token, taken by client-{client}"));
        assert_eq!(
            changes(events),
            [(Change::Granted, owner(1)), (Change::Removed, owner(1)), (Change::Granted, owner(2))]
        );
    }

    #[test]
    fn a_key_that_is_written_by_a_process_that_asks_is_no_token() {
        let mut events = Vec::new();
        for operation in 1..4 {
            events.extend(cycle(operation, 1, server(Change::Granted, 1)));
            events.push(server(Change::Removed, 1));
        }
        let told = changes(events);
        assert_eq!(told.first().map(|(change, _)| *change), Some(Change::Granted));
        assert_eq!(told.len(), 6);
    }
}
