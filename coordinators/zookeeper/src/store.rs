//! A server's stored state: a snapshot, the log since then, and the epochs.

use crate::transaction::Transaction;
use crate::tree::{NodeEvent, Outcome, Tree};
use bytes::Bytes;
use fencepost_machine::journal::{self, Files};
use fencepost_machine::{DiskImage, Output};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;

/// Default of ZooKeeper's `snapCount`, in transactions.
const LOG_MAX: usize = 100_000;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Epochs {
    pub(crate) accepted: u32,
    pub(crate) current: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) tree: Tree,
    base: Tree,
    log: Vec<Transaction>,
    applied: usize,
    epochs: Epochs,
    synced: i64,
    syncing: VecDeque<i64>,
}

pub(crate) struct Replaced {
    pub(crate) before: Tree,
}

impl Store {
    /// Loads the state and applies every complete logged transaction, as the real server does.
    pub(crate) fn load(files: &Files) -> Store {
        let base: Tree = files.snapshot.as_ref().map(decode).unwrap_or_default();
        let (tree, base_zxid) = (base.clone(), base.zxid);
        let (log, applied) = (read_log(&files.log, base_zxid), 0);
        let epochs = files.config.as_deref().and_then(read_epochs).unwrap_or_default();
        let (synced, syncing) = (base_zxid, VecDeque::new());
        let mut store = Store { tree, base, log, applied, epochs, synced, syncing };
        store.apply_all(&mut Vec::new());
        store
    }

    pub(crate) fn epochs(&self) -> Epochs {
        self.epochs
    }

    pub(crate) fn last_logged(&self) -> i64 {
        self.log.last().map_or(self.base.zxid, |last| last.zxid)
    }

    pub(crate) fn base_zxid(&self) -> i64 {
        self.base.zxid
    }

    pub(crate) fn synced(&self) -> i64 {
        self.synced
    }

    pub(crate) fn logged_after(&self, zxid: i64) -> Option<&[Transaction]> {
        let start = self.log.partition_point(|transaction| transaction.zxid <= zxid);
        let follows = match start.checked_sub(1) {
            Some(last) => self.log[last].zxid == zxid,
            None => self.base.zxid == zxid,
        };
        follows.then(|| &self.log[start..])
    }

    pub(crate) fn last_up_to(&self, zxid: i64) -> Option<i64> {
        let start = self.log.partition_point(|transaction| transaction.zxid <= zxid);
        match start.checked_sub(1) {
            Some(last) => Some(self.log[last].zxid),
            None => (self.base.zxid <= zxid).then_some(self.base.zxid),
        }
    }

    pub(crate) fn append(&mut self, transaction: Transaction, out: &mut Vec<Output>) {
        out.push(Output::DiskAppend { bytes: encode(&transaction) });
        self.log.push(transaction);
    }

    pub(crate) fn sync(&mut self, out: &mut Vec<Output>) {
        let last = self.last_logged();
        if self.syncing.is_empty() && self.synced < last {
            self.syncing.push_back(last);
            out.push(Output::DiskSync);
        }
    }

    pub(crate) fn disk_synced(&mut self, out: &mut Vec<Output>) {
        let reached = self.syncing.pop_front().unwrap_or(self.synced);
        self.synced = self.synced.max(reached.min(self.last_logged()));
        self.sync(out);
    }

    pub(crate) fn apply_next(
        &mut self,
        zxid: i64,
        node_events: &mut Vec<NodeEvent>,
    ) -> Option<(Transaction, Outcome)> {
        let next = self.log.get(self.applied).filter(|next| next.zxid <= zxid)?.clone();
        self.applied += 1;
        let outcome = self.tree.apply(&next, node_events);
        Some((next, outcome))
    }

    pub(crate) fn apply_all(&mut self, node_events: &mut Vec<NodeEvent>) {
        while self.apply_next(i64::MAX, node_events).is_some() {}
    }

    pub(crate) fn truncate(&mut self, zxid: i64, out: &mut Vec<Output>) -> Replaced {
        self.log.retain(|transaction| transaction.zxid <= zxid);
        let before = std::mem::replace(&mut self.tree, self.base.clone());
        self.applied = 0;
        self.apply_all(&mut Vec::new());
        self.replace_disk(out);
        Replaced { before }
    }

    pub(crate) fn install(&mut self, tree: Tree, out: &mut Vec<Output>) -> Replaced {
        self.base = tree.clone();
        let before = std::mem::replace(&mut self.tree, tree);
        self.log.clear();
        self.applied = 0;
        self.replace_disk(out);
        Replaced { before }
    }

    pub(crate) fn compact_log(&mut self, out: &mut Vec<Output>) {
        if self.log.len() >= LOG_MAX && self.applied == self.log.len() {
            self.base = self.tree.clone();
            self.log.clear();
            self.applied = 0;
            self.replace_disk(out);
        }
    }

    fn replace_disk(&mut self, out: &mut Vec<Output>) {
        let log: Vec<Bytes> = self.log.iter().map(encode).collect();
        let (snapshot, append_only) = (Some(encode(&self.base)), log.concat().into());
        let image = DiskImage { snapshot, append_only, config: None };
        out.push(Output::DiskReplace { image });
        self.synced = self.last_logged();
        self.syncing.iter_mut().for_each(|reached| *reached = 0);
    }

    pub(crate) fn set_epochs(&mut self, epochs: Epochs, out: &mut Vec<Output>) {
        self.epochs = epochs;
        let text = format!("acceptedEpoch={}\ncurrentEpoch={}\n", epochs.accepted, epochs.current);
        out.push(Output::DiskConfig { config: journal::record(text.as_bytes()) });
    }
}

fn encode(stored: &impl Serialize) -> Bytes {
    journal::record(&serde_json::to_vec(stored).expect("stored data are JSON"))
}

/// Reads stored data. Panics on malformed data, which the checksums rule out.
fn decode<T: DeserializeOwned>(stored: &Bytes) -> T {
    serde_json::from_slice(stored).expect("data as they were written")
}

fn read_log(records: &[Bytes], base_zxid: i64) -> Vec<Transaction> {
    let (mut log, mut last) = (Vec::new(), base_zxid);
    for record in records {
        let transaction: Transaction = decode(record);
        if transaction.zxid <= last {
            continue;
        }
        last = transaction.zxid;
        log.push(transaction);
    }
    log
}

fn read_epochs(config: &[u8]) -> Option<Epochs> {
    let text = std::str::from_utf8(config).ok()?;
    let number = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        line.and_then(|number| number.parse().ok())
    };
    Some(Epochs { accepted: number("acceptedEpoch")?, current: number("currentEpoch")? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transaction::Change;
    use fencepost_machine::Disk;

    fn loaded(disk: &DiskImage) -> Store {
        Store::load(&journal::open(disk))
    }

    fn transaction(zxid: i64) -> Transaction {
        let change = Change::OpenSession { timeout_ms: 1 };
        Transaction { zxid, session: zxid, cxid: 0, time_ms: 0, change }
    }

    fn sessions(store: &Store) -> Vec<i64> {
        store.tree.sessions.keys().copied().collect()
    }

    fn written() -> (Store, Disk) {
        let (mut store, mut disk, mut out) =
            (loaded(&DiskImage::default()), Disk::default(), Vec::new());
        for zxid in 1..=3 {
            store.append(transaction(zxid), &mut out);
            store.sync(&mut out);
        }
        out.drain(..).for_each(|output| {
            disk.apply(&output);
        });
        (store, disk)
    }

    #[test]
    fn what_is_written_while_a_sync_is_under_way_goes_with_the_next() {
        let (mut store, mut disk) = written();
        let mut out = Vec::new();
        disk.finish_sync();
        store.disk_synced(&mut out);
        assert_eq!((store.synced(), out.as_slice()), (1, [Output::DiskSync].as_slice()));
        store.disk_synced(&mut Vec::new());
        assert_eq!(store.synced(), 3);
    }

    #[test]
    fn a_restart_finds_what_was_logged_and_a_power_loss_leaves_what_was_synced() {
        let (_, mut disk) = written();
        disk.finish_sync();
        assert_eq!(sessions(&loaded(&disk.image())), [1, 2, 3]);
        disk.power_loss();
        assert_eq!(sessions(&loaded(&disk.image())), [1]);
    }

    #[test]
    fn an_incomplete_transaction_at_the_end_of_the_log_does_not_count() {
        let (_, disk) = written();
        let mut image = disk.image();
        for length in 0..image.append_only.len() {
            image.append_only = disk.image().append_only.slice(..length);
            assert!(sessions(&loaded(&image)).len() < 3);
        }
    }

    #[test]
    fn a_log_that_is_cut_leads_back_to_the_tree_of_then() {
        let (mut store, mut disk) = written();
        store.apply_all(&mut Vec::new());
        let mut out = Vec::new();
        store.truncate(2, &mut out);
        disk.apply(&out[0]);
        assert_eq!((sessions(&store), store.last_logged(), store.synced()), (vec![1, 2], 2, 2));
        assert_eq!(sessions(&loaded(&disk.image())), [1, 2]);
        assert_eq!(store.logged_after(1).map(<[_]>::len), Some(1));
        assert_eq!(store.logged_after(7), None);
    }
}
