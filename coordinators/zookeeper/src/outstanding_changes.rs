//! The tree after all proposals ([`OutstandingChanges`]). The leader checks requests against it.

use crate::code::Refusal;
use crate::path;
use crate::stat::StoredStat;
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) kept: StoredStat,
    pub(crate) children: usize,
}

/// Zxid of a proposal, and the resulting node; `None` if the proposal deletes the node.
type Entry = (i64, Option<Record>);

#[derive(Clone, Debug, Default)]
pub(crate) struct OutstandingChanges {
    entries: BTreeMap<String, Entry>,
}

impl OutstandingChanges {
    pub(crate) fn get(&self, tree: &Tree, path: &str) -> Result<Record, Refusal> {
        if let Some((_, record)) = self.entries.get(path::key(path)) {
            return record.clone().ok_or(Refusal::NoNode);
        }
        let node = tree.get(path).ok_or(Refusal::NoNode)?;
        Ok(Record { kept: node.kept, children: node.children.len() })
    }

    pub(crate) fn put(&mut self, zxid: i64, path: &str, record: Option<Record>) {
        self.entries.insert(path::key(path).to_owned(), (zxid, record));
    }

    pub(crate) fn ephemerals(&self, tree: &Tree, session: i64) -> BTreeSet<String> {
        let mut owned = tree.ephemerals(session);
        for (path, (_, record)) in &self.entries {
            match record {
                None => {
                    owned.remove(path);
                }
                Some(record) if record.kept.owner == session => {
                    owned.insert(path.clone());
                }
                Some(_) => {}
            }
        }
        owned
    }

    pub(crate) fn committed(&mut self, zxid: i64) {
        if !self.entries.is_empty() {
            self.entries.retain(|_, (last, _)| *last > zxid);
        }
    }
}
