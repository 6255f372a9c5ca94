//! The latest acquisition and the last known guarded value of each holder.

use bytes::Bytes;
use fencepost_faults::Node;
use std::cell::RefCell;
use std::collections::BTreeMap;

#[derive(Default)]
pub(crate) struct HolderDesk {
    entries: RefCell<BTreeMap<Node, Entry>>,
    names: RefCell<BTreeMap<(Node, Bytes), Node>>,
    first_lock: RefCell<Option<Bytes>>,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    acquisition: Option<u64>,
    /// The value that the holder last read, or wrote after a read.
    known: Option<i64>,
}

impl HolderDesk {
    pub(crate) fn names(&self, machine: Node, name: Bytes, holder: Node) {
        self.names.borrow_mut().insert((machine, name), holder);
    }

    pub(crate) fn holder(&self, machine: Node, name: Option<Bytes>) -> Node {
        let named = name.and_then(|name| self.names.borrow().get(&(machine, name)).copied());
        named.unwrap_or(machine)
    }

    /// Returns the lock that this run's processes named first; stores `named` if there is none yet.
    pub(crate) fn first_lock(&self, named: &Bytes) -> Bytes {
        self.first_lock.borrow_mut().get_or_insert_with(|| named.clone()).clone()
    }

    pub(crate) fn acquires(&self, node: Node, operation: u64) {
        self.entries.borrow_mut().entry(node).or_default().acquisition = Some(operation);
    }

    pub(crate) fn acquisition(&self, node: Node) -> Option<u64> {
        self.entries.borrow().get(&node).and_then(|entry| entry.acquisition)
    }

    pub(crate) fn reads(&self, node: Node, value: i64) {
        self.entries.borrow_mut().entry(node).or_default().known = Some(value);
    }

    pub(crate) fn writes(&self, node: Node, value: i64) {
        if self.known(node).is_some() {
            self.reads(node, value);
        }
    }

    pub(crate) fn known(&self, node: Node) -> Option<i64> {
        self.entries.borrow().get(&node).and_then(|entry| entry.known)
    }
}
