use super::{Action, Event, Header, History, What};
use fencepost_faults::Node;
use std::collections::{BTreeMap, BTreeSet};

impl History {
    /// Returns one history for each lock that a [`What::About`] event names, sorted by key and
    /// without storage requests.
    pub fn by_lock(&self) -> Vec<History> {
        let named = self.events.iter().filter_map(|event| match &event.what {
            What::About { lock } => Some(lock.as_str()),
            _ => None,
        });
        let locks: BTreeSet<&str> = named.collect();
        locks.into_iter().map(|lock| self.of_lock(lock)).collect()
    }

    pub fn of_lock(&self, lock: &str) -> History {
        let mut about: BTreeMap<Node, &str> = BTreeMap::new();
        let mut storage: BTreeSet<u64> = BTreeSet::new();
        let mut is_of_lock = |event: &Event, about: &BTreeMap<Node, &str>| match &event.what {
            What::Server { key, .. } => key == lock,
            What::About { .. } | What::Storage { .. } => false,
            What::Invoke { operation, action: Action::Read { .. } | Action::Write { .. } } => {
                storage.insert(*operation);
                false
            }
            What::Ok { operation, .. }
            | What::Fail { operation, .. }
            | What::Info { operation, .. }
                if storage.contains(operation) =>
            {
                false
            }
            What::Invoke { .. }
            | What::Ok { .. }
            | What::Fail { .. }
            | What::Info { .. }
            | What::GivenUp { .. }
            | What::Lost
            | What::Silent { .. } => about.get(&event.node) == Some(&lock),
            What::Crashed
            | What::Started
            | What::Turn { .. }
            | What::FaultBegan { .. }
            | What::FaultEnded { .. }
            | What::Healed => true,
        };
        let mut events = Vec::new();
        for event in &self.events {
            if let What::About { lock } = &event.what {
                about.insert(event.node, lock);
            }
            if is_of_lock(event, &about) {
                events.push(event.clone());
            }
        }
        let header = Header { resource: lock.to_owned(), ..self.header.clone() };
        History { format: self.format.clone(), header, events, ..*self }
    }
}
