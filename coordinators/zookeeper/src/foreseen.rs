//! What the tree will be once every proposal is committed: requests are checked against this, not
//! against what is committed already.

use crate::acl::Acl;
use crate::code::Refusal;
use crate::path;
use crate::stat::Kept;
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// What of a node decides whether a request can be carried out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) kept: Kept,
    pub(crate) children: usize,
    pub(crate) acl: Vec<Acl>,
}

/// A node that a proposal touches; `None` if the proposal removes it.
type Entry = (i64, Option<Record>);

/// The nodes that proposals touch which are not committed yet, each as the last of them leaves it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Foreseen {
    entries: BTreeMap<String, Entry>,
}

impl Foreseen {
    /// The node of a path as it will be.
    pub(crate) fn get(&self, tree: &Tree, path: &str) -> Result<Record, Refusal> {
        if let Some((_, record)) = self.entries.get(path::key(path)) {
            return record.clone().ok_or(Refusal::NoNode);
        }
        let node = tree.get(path).ok_or(Refusal::NoNode)?;
        Ok(Record { kept: node.kept, children: node.children.len(), acl: node.acl.clone() })
    }

    /// Notes how a proposal leaves a node.
    pub(crate) fn put(&mut self, zxid: i64, path: &str, record: Option<Record>) {
        self.entries.insert(path::key(path).to_owned(), (zxid, record));
    }

    /// The nodes that a session will own.
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

    /// Forgets what a transaction that is committed now has done: the tree has it.
    pub(crate) fn committed(&mut self, zxid: i64) {
        if !self.entries.is_empty() {
            self.entries.retain(|_, (last, _)| *last > zxid);
        }
    }
}
