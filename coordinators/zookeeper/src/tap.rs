//! Reports lock holders to the judge. A lock is named after the path of its node. Its queue is the
//! node's children with sequence numbers, and the head of the queue holds the lock. An ephemeral
//! node at the lock's own path is also a lock. A semaphore's leases are below `leases`; the nodes
//! below `locks` are another queue. A session's second contender in a queue is reported as
//! `<queue>/twice`, because its client may not know both nodes.

use crate::tree::{Node, Tree};
use bytes::Bytes;
use fencepost_machine::{ConnectionId, KeyChange, TapEvent};
use std::collections::{BTreeMap, BTreeSet};

const DIGITS: usize = 10;
const TWICE: &str = "/twice";

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Head {
    path: String,
    value: Bytes,
    token: i64,
    pub(crate) session: i64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct LockHeads {
    prefix: Option<String>,
    heads: BTreeMap<String, Head>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HeadChange {
    key: String,
    change: KeyChange,
    head: Head,
}

impl HeadChange {
    pub(crate) fn session(&self) -> i64 {
        self.head.session
    }

    pub(crate) fn is_grant(&self) -> bool {
        self.change == KeyChange::Granted
    }

    pub(crate) fn event(self, by: Option<ConnectionId>, primary: bool) -> TapEvent {
        let HeadChange { key, change, head } = self;
        let is_there = matches!(change, KeyChange::Granted | KeyChange::Restored);
        let token = u64::try_from(head.token).ok().filter(|_| is_there);
        let (key, value) = (key.into(), Some(head.value));
        TapEvent { key, change, value, by, expires_at_ms: None, primary, token }
    }
}

impl LockHeads {
    pub(crate) fn new(prefix: Option<String>) -> LockHeads {
        LockHeads { prefix, heads: BTreeMap::new() }
    }

    fn key(&self, path: &str) -> Option<String> {
        let below = path.strip_prefix('/')?;
        if !below.starts_with(self.prefix.as_deref()?) {
            return None;
        }
        let contended = below.rsplit_once('/').filter(|(_, name)| sequence(name).is_some());
        let lock = contended.map_or(below, |(lock, _)| lock);
        Some(lock.strip_suffix("/leases").unwrap_or(lock).to_owned())
    }

    pub(crate) fn take_changes<'a>(
        &mut self,
        tree: &Tree,
        paths: impl Iterator<Item = &'a str>,
        left: KeyChange,
    ) -> Vec<HeadChange> {
        let keys: BTreeSet<String> = paths.filter_map(|path| self.key(path)).collect();
        let mut changes = Vec::new();
        for key in keys {
            let (mut first, twice) = heads(tree, &key);
            if let Some(head) = &mut first
                && self.prefix.as_deref() == Some("")
                && head.path.strip_prefix('/') == Some(&key)
            {
                // The contenders for a single node use one path, so name the holder by its session.
                head.value = format!("session {:x}", head.session).into();
            }
            for (key, now) in [(key.clone(), first), (key + TWICE, twice)] {
                let before = match &now {
                    Some(head) => self.heads.insert(key.clone(), head.clone()),
                    None => self.heads.remove(&key),
                };
                if before != now {
                    report_both(key, (before, left), (now, KeyChange::Granted), &mut changes);
                }
            }
        }
        changes
    }

    pub(crate) fn compare_heads(&mut self, before: Option<&Tree>, tree: &Tree) -> Vec<HeadChange> {
        let trees = before.into_iter().chain([tree]);
        let paths = trees.flat_map(Tree::nodes).map(|(path, _)| path.as_str());
        let mut changes = self.take_changes(tree, paths, KeyChange::Discarded);
        for one in &mut changes {
            if one.is_grant() {
                one.change = KeyChange::Restored;
            }
        }
        changes
    }

    /// Returns the locks of a reconnected session, to report them with the new connection.
    pub(crate) fn of_session(&self, session: i64) -> Vec<HeadChange> {
        let own = self.heads.iter().filter(|(_, head)| head.session == session);
        let changes = |(key, head): (&String, &Head)| {
            let (key, head) = (key.clone(), head.clone());
            HeadChange { key, change: KeyChange::Restored, head }
        };
        own.map(changes).collect()
    }
}

/// Returns the head of the queue, and the first contender whose session has an earlier one.
fn heads(tree: &Tree, key: &str) -> (Option<Head>, Option<Head>) {
    let lock = format!("/{key}");
    if let Some(node) = tree.get(&lock)
        && node.kept.is_ephemeral()
    {
        return (Some(head(lock, node)), None);
    }
    let (mut first, mut sessions) = (None, BTreeSet::new());
    for contender in contenders(tree, &lock) {
        if !sessions.insert(contender.session) {
            return (first, Some(contender));
        }
        first.get_or_insert(contender);
    }
    (first, None)
}

fn contenders(tree: &Tree, lock: &str) -> Vec<Head> {
    let queues = [lock.to_owned(), format!("{lock}/leases")];
    let mut found = Vec::new();
    for (path, node) in queues.iter().filter_map(|path| Some((path, tree.get(path)?))) {
        let numbered = node.children.iter().filter_map(|name| Some((sequence(name)?, name)));
        found.extend(numbered.map(|(number, name)| (number, format!("{path}/{name}"))));
    }
    found.sort();
    let known = |(_, path): (u64, String)| tree.get(&path).map(|node| head(path.clone(), node));
    found.into_iter().filter_map(known).collect()
}

fn head(path: String, node: &Node) -> Head {
    let name = path.rsplit('/').next().unwrap_or_default();
    let value = Bytes::copy_from_slice(name.as_bytes());
    Head { value, token: node.kept.czxid, session: node.kept.owner, path }
}

fn sequence(name: &str) -> Option<u64> {
    let digits = name.get(name.len().checked_sub(DIGITS)?..)?;
    digits.parse().ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()))
}

type Turn = (Option<Head>, KeyChange);

fn report_both(key: String, before: Turn, now: Turn, changes: &mut Vec<HeadChange>) {
    for (head, change) in [before, now] {
        changes.extend(head.map(|head| HeadChange { key: key.clone(), change, head }));
    }
}
