//! The tree of nodes and the open sessions, equal on members that applied the same transactions.

use crate::path;
use crate::stat::{CONTAINER_OWNER, Stat, StoredStat};
use crate::transaction::{Change, Creation, Transaction};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Node {
    pub(crate) data: Option<Bytes>,
    pub(crate) kept: StoredStat,
    pub(crate) children: BTreeSet<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Tree {
    nodes: BTreeMap<String, Node>,
    pub(crate) sessions: BTreeMap<i64, i32>,
    ephemerals: BTreeMap<i64, BTreeSet<String>>,
    containers: BTreeSet<String>,
    pub(crate) zxid: i64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NodeEvent {
    Created(String),
    Deleted(String),
    DataChanged(String),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Refused(i32),
    Created { path: String, stat: Option<Stat> },
    Deleted,
    Changed(Stat),
    Checked,
    Many(Vec<Outcome>),
    SessionOpened,
    SessionClosed,
}

impl Node {
    pub(crate) fn stat(&self) -> Stat {
        let length = self.data.as_ref().map_or(0, Bytes::len);
        let clamp = |number| i32::try_from(number).unwrap_or(i32::MAX);
        Stat { kept: self.kept, data_length: clamp(length), children: clamp(self.children.len()) }
    }
}

impl Default for Tree {
    fn default() -> Tree {
        let mut tree = Tree {
            nodes: BTreeMap::new(),
            sessions: BTreeMap::new(),
            ephemerals: BTreeMap::new(),
            containers: BTreeSet::new(),
            zxid: 0,
        };
        let empty = || Node { data: Some(Bytes::new()), ..Node::default() };
        tree.nodes.insert(String::new(), empty());
        for path in ["/zookeeper", "/zookeeper/quota", "/zookeeper/config"] {
            tree.insert(path.to_owned(), empty());
        }
        tree
    }
}

impl Tree {
    pub(crate) fn get(&self, path: &str) -> Option<&Node> {
        self.nodes.get(path::key(path))
    }

    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn ephemerals(&self, session: i64) -> BTreeSet<String> {
        self.ephemerals.get(&session).cloned().unwrap_or_default()
    }

    pub(crate) fn empty_containers(&self) -> impl Iterator<Item = &String> {
        self.containers.iter().filter(|path| {
            let node = self.nodes.get(*path);
            node.is_some_and(|node| node.children.is_empty() && node.kept.created > 0)
        })
    }

    pub(crate) fn nodes(&self) -> impl Iterator<Item = (&String, &Node)> {
        self.nodes.iter()
    }

    pub(crate) fn apply(
        &mut self,
        transaction: &Transaction,
        node_events: &mut Vec<NodeEvent>,
    ) -> Outcome {
        self.zxid = transaction.zxid;
        self.change(transaction, &transaction.change, node_events)
    }

    fn change(
        &mut self,
        transaction: &Transaction,
        change: &Change,
        node_events: &mut Vec<NodeEvent>,
    ) -> Outcome {
        match change {
            Change::Create(creation) => self.create(transaction, creation, node_events),
            Change::Delete { path } => {
                self.delete(path, transaction.zxid, node_events);
                Outcome::Deleted
            }
            Change::SetData { path, data, version } => {
                node_events.push(NodeEvent::DataChanged(path.clone()));
                self.modify(path, |node| {
                    node.data.clone_from(data);
                    node.kept.version = *version;
                    (node.kept.mtime_ms, node.kept.mzxid) = (transaction.time_ms, transaction.zxid);
                })
            }
            Change::Check => Outcome::Checked,
            Change::Multi(changes) => Outcome::Many(
                changes
                    .iter()
                    .map(|change| self.change(transaction, change, node_events))
                    .collect(),
            ),
            Change::Refused(code) => Outcome::Refused(*code),
            Change::OpenSession { timeout_ms } => {
                self.sessions.insert(transaction.session, *timeout_ms);
                Outcome::SessionOpened
            }
            Change::CloseSession { paths } => {
                self.sessions.remove(&transaction.session);
                paths.iter().for_each(|path| self.delete(path, transaction.zxid, node_events));
                Outcome::SessionClosed
            }
        }
    }

    fn create(
        &mut self,
        transaction: &Transaction,
        creation: &Creation,
        node_events: &mut Vec<NodeEvent>,
    ) -> Outcome {
        let Creation { path, data, owner, parent_created, is_told_stat } = creation;
        let kept = StoredStat::new(transaction.zxid, transaction.time_ms, *owner);
        let node = Node { data: data.clone(), kept, children: BTreeSet::new() };
        let stat = is_told_stat.then(|| node.stat());
        let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
        if let Some(parent) = self.nodes.get_mut(parent) {
            (parent.kept.created, parent.kept.pzxid) = (*parent_created, transaction.zxid);
        }
        self.insert(path.clone(), node);
        node_events.push(NodeEvent::Created(path.clone()));
        Outcome::Created { path: path.clone(), stat }
    }

    fn modify(&mut self, path: &str, change: impl FnOnce(&mut Node)) -> Outcome {
        match self.nodes.get_mut(path::key(path)) {
            Some(node) => {
                change(node);
                Outcome::Changed(node.stat())
            }
            None => Outcome::Refused(crate::code::Refusal::NoNode.number()),
        }
    }

    fn insert(&mut self, path: String, node: Node) {
        if let Some((parent, name)) = path.rsplit_once('/')
            && let Some(parent) = self.nodes.get_mut(parent)
        {
            parent.children.insert(name.to_owned());
        }
        if node.kept.owner == CONTAINER_OWNER {
            self.containers.insert(path.clone());
        } else if node.kept.is_ephemeral() {
            self.ephemerals.entry(node.kept.owner).or_default().insert(path.clone());
        }
        self.nodes.insert(path, node);
    }

    fn delete(&mut self, path: &str, zxid: i64, node_events: &mut Vec<NodeEvent>) {
        let Some(node) = self.nodes.remove(path) else { return };
        if let Some((parent, name)) = path.rsplit_once('/')
            && let Some(parent) = self.nodes.get_mut(parent)
        {
            parent.children.remove(name);
            parent.kept.pzxid = parent.kept.pzxid.max(zxid);
        }
        self.containers.remove(path);
        if let Some(owned) = self.ephemerals.get_mut(&node.kept.owner) {
            owned.remove(path);
            if owned.is_empty() {
                self.ephemerals.remove(&node.kept.owner);
            }
        }
        node_events.push(NodeEvent::Deleted(path.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_what_its_snapshot_says() {
        let mut tree = Tree::default();
        let creation = |path: &str, owner| {
            Change::Create(Creation {
                path: path.to_owned(),
                data: None,
                owner,
                parent_created: 1,
                is_told_stat: false,
            })
        };
        let changes = [
            Change::OpenSession { timeout_ms: 4_000 },
            creation("/c", CONTAINER_OWNER),
            creation("/c/e", 5),
        ];
        for (zxid, change) in (1..).zip(changes) {
            let transaction = Transaction { zxid, session: 5, cxid: 0, time_ms: 1, change };
            tree.apply(&transaction, &mut Vec::new());
        }
        let snapshot = serde_json::to_vec(&tree).unwrap();
        assert_eq!(serde_json::from_slice::<Tree>(&snapshot).unwrap(), tree);
        assert_eq!(tree.ephemerals(5), BTreeSet::from(["/c/e".to_owned()]));
        let delete = Change::CloseSession { paths: vec!["/c/e".to_owned()] };
        let closing = Transaction { zxid: 4, session: 5, cxid: 0, time_ms: 1, change: delete };
        tree.apply(&closing, &mut Vec::new());
        assert_eq!(tree.empty_containers().collect::<Vec<_>>(), ["/c"]);
        assert!(tree.sessions.is_empty() && tree.ephemerals(5).is_empty());
    }
}
