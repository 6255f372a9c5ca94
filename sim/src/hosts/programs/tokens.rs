//! Interprets locks that are a token in a list. The list exists while the lock is free. If there
//! are several tokens, each take is a grant, and the latest grant replaces the earlier ones.

use fencepost_faults::Node;
use fencepost_reports::{Action, Change, Event, What};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct List {
    tokens: String,
    /// Owners of the tokens that were taken, the latest last.
    owners: Vec<String>,
    /// The owner of the latest grant, until that lock ends.
    current: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Take,
    Put,
}

impl List {
    fn step(&mut self, change: Change, value: Option<&str>) -> Option<Step> {
        let now = match change {
            Change::Granted | Change::Extended | Change::Restored => value.unwrap_or_default(),
            _ => "",
        };
        let before = std::mem::replace(&mut self.tokens, now.to_owned());
        match change {
            Change::Removed => Some(Step::Take),
            Change::Granted | Change::Extended if is_shorter(&before, now) => Some(Step::Take),
            Change::Granted => Some(Step::Put),
            Change::Extended if before != now => Some(Step::Put),
            _ => None,
        }
    }

    fn take(&mut self, by: Node) -> String {
        let owner = owner(by);
        self.owners.push(owner.clone());
        self.current = Some(owner.clone());
        owner
    }

    /// Returns the owner of the lock that ends, unless a later grant replaced that lock. The lock
    /// of a process with several tokens ends when it puts the last one back. If a process without a
    /// token puts one back, the latest lock ends.
    fn put(&mut self, by: Option<Node>) -> Option<String> {
        let own = by.map(owner);
        let place = self.owners.iter().position(|owner| Some(owner) == own.as_ref());
        let put = match place {
            Some(place) => self.owners.remove(place),
            None => self.owners.pop()?,
        };
        let is_last = place.is_none() || !self.owners.contains(&put);
        self.current.take_if(|current| is_last && *current == put)
    }
}

fn owner(by: Node) -> String {
    format!("the token, taken by {}", by.machine())
}

/// Returns `true` if a token was taken from one end of the list, and other tokens remain.
fn is_shorter(before: &str, now: &str) -> bool {
    let is_end = before.strip_suffix(now).is_some_and(|taken| taken.ends_with(' '));
    let is_start = before.strip_prefix(now).is_some_and(|taken| taken.starts_with(' '));
    !now.is_empty() && (is_end || is_start)
}

pub(super) fn read(events: &mut Vec<Event>) {
    if !are_tokens(events) {
        return;
    }
    let mut lists: BTreeMap<Node, List> = BTreeMap::new();
    events.retain_mut(|event| {
        let node = event.node;
        let What::Server { change, value, by, lease_us, .. } = &mut event.what else { return true };
        *lease_us = None;
        let list = lists.entry(node).or_default();
        match (list.step(*change, value.as_deref()), *by) {
            (Some(Step::Take), Some(by)) => {
                (*change, *value) = (Change::Granted, Some(list.take(by)));
                true
            }
            (Some(Step::Put), by) => {
                (*change, *value) = (Change::Removed, list.put(by));
                value.is_some()
            }
            _ => false,
        }
    });
    for (sequence, event) in events.iter_mut().enumerate() {
        event.sequence = sequence as u64;
    }
}

/// Returns `true` if processes took the key during their acquires, and never wrote it then. A
/// single take counts only if its acquire succeeded.
fn are_tokens(events: &[Event]) -> bool {
    let mut lists: BTreeMap<Node, List> = BTreeMap::new();
    let mut asking: BTreeMap<u64, Node> = BTreeMap::new();
    let mut takers: BTreeSet<u64> = BTreeSet::new();
    let (mut taken, mut written, mut succeeded) = (0, 0, 0);
    for event in events {
        match &event.what {
            What::Invoke { operation, action: Action::Acquire } => {
                asking.insert(*operation, event.node.machine());
            }
            What::Ok { operation, .. } => {
                asking.remove(operation);
                succeeded += u32::from(takers.remove(operation));
            }
            What::Fail { operation, .. } | What::Info { operation, .. } => {
                asking.remove(operation);
            }
            What::Crashed => asking.retain(|_, machine| *machine != event.node),
            What::Server { change, value, by, .. } => {
                let step = lists.entry(event.node).or_default().step(*change, value.as_deref());
                let Some(by) = by.map(Node::machine) else { continue };
                let open: Vec<u64> =
                    asking.iter().filter(|(_, asks)| **asks == by).map(|(open, _)| *open).collect();
                match (step, change) {
                    _ if open.is_empty() => {}
                    (Some(Step::Take), _) => {
                        taken += 1;
                        takers.extend(open);
                    }
                    (_, Change::Granted | Change::Extended) => written += 1,
                    _ => {}
                }
            }
            _ => {}
        }
    }
    (taken >= 2 || succeeded >= 1) && written == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_faults::SimTime;

    fn event(node: Node, what: What) -> Event {
        Event { sequence: 0, time_us: SimTime(0), node, what }
    }

    fn server(change: Change, by: u16) -> Event {
        server_with(change, "t", by)
    }

    fn server_with(change: Change, value: &str, by: u16) -> Event {
        let (key, value, by) = ("k".to_owned(), Some(value.to_owned()), Some(Node::Client(by)));
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
    fn the_only_token_that_was_ever_taken_is_a_grant_if_its_acquire_succeeded() {
        let mut events = vec![server(Change::Granted, 1)];
        events.extend(cycle(1, 2, server(Change::Removed, 2)));
        let owner = Some("the token, taken by client-2".to_owned());
        assert_eq!(changes(events.clone()), [(Change::Granted, owner)]);
        events.truncate(3);
        assert_eq!(changes(events).last().map(|(change, _)| *change), Some(Change::Removed));
    }

    /// Two processes take two tokens, one after the other, and `putters` put them back.
    fn changes_of_two_tokens(takers: [u16; 2], putters: [u16; 2]) -> Vec<(Change, String)> {
        let mut events = vec![server(Change::Granted, 1)];
        events.push(server_with(Change::Granted, "t t", 2));
        events.extend(cycle(1, takers[0], server_with(Change::Granted, "t", takers[0])));
        events.extend(cycle(2, takers[1], server(Change::Removed, takers[1])));
        events.push(server(Change::Granted, putters[0]));
        events.push(server_with(Change::Granted, "t t", putters[1]));
        let told = changes(events).into_iter();
        told.map(|(change, owner)| (change, owner.unwrap_or_default())).collect()
    }

    #[test]
    fn with_two_tokens_the_later_take_replaces_the_earlier() {
        let owner = |client: u16| format!("the token, taken by client-{client}");
        let later_ends =
            [(Change::Granted, owner(1)), (Change::Granted, owner(2)), (Change::Removed, owner(2))];
        assert_eq!(changes_of_two_tokens([1, 2], [1, 2]), later_ends);
        assert_eq!(changes_of_two_tokens([1, 2], [2, 1]), later_ends);
    }

    #[test]
    fn the_lock_of_a_process_with_two_tokens_ends_with_the_last_of_them() {
        let owner = || "the token, taken by client-1".to_owned();
        let put = [&[(Change::Granted, owner()), (Change::Granted, owner())][..]].concat();
        let ended = [&put[..], &[(Change::Removed, owner())]].concat();
        assert_eq!(changes_of_two_tokens([1, 1], [1, 1]), ended);
    }

    #[test]
    fn a_token_is_taken_from_an_end_of_the_list() {
        assert!(is_shorter("t t", "t") && is_shorter("a b c", "b c") && is_shorter("a b", "a"));
        assert!(!is_shorter("t", "t") && !is_shorter("t", "") && !is_shorter("ab", "b"));
        assert!(!is_shorter("t", "t t"));
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
