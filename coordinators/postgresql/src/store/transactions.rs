use super::snapshot::Snapshot;
use super::{Backend, Xid};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub(crate) struct Transactions {
    next: Xid,
    running: BTreeSet<Xid>,
    seen: BTreeMap<Backend, Xid>,
}

const FIRST: u64 = 731;

impl Transactions {
    pub(crate) fn new() -> Transactions {
        Transactions { next: Xid(FIRST), running: BTreeSet::new(), seen: BTreeMap::new() }
    }

    pub(crate) fn start(&mut self) -> Xid {
        let xid = self.next;
        self.next = Xid(xid.0 + 1);
        self.running.insert(xid);
        xid
    }

    pub(crate) fn next(&self) -> Xid {
        self.next
    }

    pub(crate) fn is_running(&self, xid: Xid) -> bool {
        self.running.contains(&xid)
    }

    pub(crate) fn end(&mut self, xid: Xid) {
        self.running.remove(&xid);
    }

    pub(crate) fn snapshot(
        &mut self,
        backend: Backend,
        own: Option<Xid>,
        command: u32,
    ) -> Snapshot {
        let oldest = self.running.first().copied().unwrap_or(self.next);
        let seen = self.seen.entry(backend).or_insert(oldest);
        *seen = (*seen).min(oldest);
        Snapshot { next: self.next, running: self.running.clone(), own, command }
    }

    pub(crate) fn forget(&mut self, backend: Backend) {
        self.seen.remove(&backend);
    }

    pub(crate) fn horizon(&self) -> Xid {
        let running = self.running.first().copied().unwrap_or(self.next);
        self.seen.values().copied().min().map_or(running, |seen| seen.min(running))
    }
}
