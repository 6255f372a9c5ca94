//! What judge and storage know of each process besides the history: which acquisition is its
//! present one, and what it has read under that.

use fencepost_faults::Node;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Shared by the judges of all processes and the storage of one run.
#[derive(Default)]
pub(crate) struct Desk(RefCell<BTreeMap<Node, Entry>>);

#[derive(Clone, Copy, Default)]
struct Entry {
    acquisition: Option<u64>,
    read: Option<i64>,
}

impl Desk {
    /// A process has acquired the lock by this operation.
    pub(crate) fn acquires(&self, node: Node, operation: u64) {
        self.0.borrow_mut().insert(node, Entry { acquisition: Some(operation), read: None });
    }

    /// The latest acquisition of a process. It stays when the lock is released: what arrives later
    /// was sent under it.
    pub(crate) fn acquisition(&self, node: Node) -> Option<u64> {
        self.0.borrow().get(&node).and_then(|entry| entry.acquisition)
    }

    /// A process has read this value.
    pub(crate) fn reads(&self, node: Node, value: i64) {
        if let Some(entry) = self.0.borrow_mut().get_mut(&node) {
            entry.read = Some(value);
        }
    }

    /// What a process has read under its latest acquisition.
    pub(crate) fn read(&self, node: Node) -> Option<i64> {
        self.0.borrow().get(&node).and_then(|entry| entry.read)
    }
}
