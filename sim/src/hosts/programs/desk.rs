//! Keeps, for the judge and the storage, the current acquisition and the last read of each holder.

use bytes::Bytes;
use fencepost_faults::Node;
use std::cell::RefCell;
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct HolderDesk {
    entries: RefCell<BTreeMap<Node, Entry>>,
    names: RefCell<BTreeMap<(Node, Bytes), Node>>,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    acquisition: Option<u64>,
    read: Option<i64>,
}

impl HolderDesk {
    pub(crate) fn names(&self, machine: Node, name: Bytes, holder: Node) {
        self.names.borrow_mut().insert((machine, name), holder);
    }

    pub(crate) fn holder(&self, machine: Node, name: Option<Bytes>) -> Node {
        let named = name.and_then(|name| self.names.borrow().get(&(machine, name)).copied());
        named.unwrap_or(machine)
    }

    pub(crate) fn acquires(&self, node: Node, operation: u64) {
        let entry = Entry { acquisition: Some(operation), read: None };
        self.entries.borrow_mut().insert(node, entry);
    }

    pub(crate) fn acquisition(&self, node: Node) -> Option<u64> {
        self.entries.borrow().get(&node).and_then(|entry| entry.acquisition)
    }

    pub(crate) fn reads(&self, node: Node, value: i64) {
        if let Some(entry) = self.entries.borrow_mut().get_mut(&node) {
            entry.read = Some(value);
        }
    }

    pub(crate) fn read(&self, node: Node) -> Option<i64> {
        self.entries.borrow().get(&node).and_then(|entry| entry.read)
    }
}
