//! Reports lock holders to the judge, based on the keys.
//!
//! A `concurrency.Mutex` lock is the set of keys `<lock>/<lease in hex>`. The contender with the
//! oldest key holds the lock. An etcd3gw lock is the key `/locks/<lock>`. If the prefix is empty,
//! every other key is also a lock. A single key's owner is its value or, if that is empty, its
//! lease. A holder's token is the revision that created its key. A put that changes the owner of an
//! existing key is reported as a grant, without a removal.

use crate::mvcc::{Span, Store};
use bytes::Bytes;
use fencepost_machine::{ConnectionId, KeyChange, TapEvent};
use std::collections::{BTreeMap, BTreeSet};

/// Prefix of etcd3gw's locks (`LOCK_PREFIX`).
const GATEWAY_PREFIX: &str = "/locks/";

#[derive(Clone, PartialEq, Eq, Debug)]
struct Head {
    key: Bytes,
    value: Bytes,
    token: i64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct LockHeads {
    prefix: Option<String>,
    heads: BTreeMap<String, Head>,
    asked: BTreeMap<Bytes, ConnectionId>,
}

impl LockHeads {
    pub(crate) fn new(prefix: Option<String>) -> LockHeads {
        LockHeads { prefix, ..LockHeads::default() }
    }

    pub(crate) fn is_watching(&self) -> bool {
        self.prefix.is_some()
    }

    fn lock_of(&self, key: &[u8]) -> Option<String> {
        let key = std::str::from_utf8(key).ok()?;
        let prefix = self.prefix.as_deref()?;
        if let Some(lock) = key.strip_prefix(GATEWAY_PREFIX) {
            return lock.starts_with(prefix).then(|| lock.to_owned());
        }
        let queue = key.rsplit_once('/').filter(|(_, name)| !prefix.is_empty() || is_lease(name));
        let lock = match queue {
            Some((lock, _)) => lock,
            None if prefix.is_empty() => key,
            None => return None,
        };
        lock.starts_with(prefix).then(|| lock.to_owned())
    }

    pub(crate) fn asked(&mut self, key: &Bytes, by: Option<ConnectionId>) {
        if self.lock_of(key).is_some() {
            match by {
                Some(by) => self.asked.insert(key.clone(), by),
                None => self.asked.remove(key),
            };
        }
    }

    pub(crate) fn closed(&mut self, connection: ConnectionId) {
        self.asked.retain(|_, by| *by != connection);
    }

    pub(crate) fn take_changes<'k>(
        &mut self,
        store: &Store,
        keys: impl Iterator<Item = &'k Bytes>,
        left: KeyChange,
        by: Option<ConnectionId>,
    ) -> Vec<TapEvent> {
        let locks: BTreeSet<String> = keys.filter_map(|key| self.lock_of(key)).collect();
        let mut told = Vec::new();
        for lock in locks {
            let now = head(store, &lock);
            let before = match &now {
                Some(head) => self.heads.insert(lock.clone(), head.clone()),
                None => self.heads.remove(&lock),
            };
            if before == now {
                continue;
            }
            let event = |head: Head, change, by| {
                let token = u64::try_from(head.token).ok().filter(|_| change != left);
                let (key, value) = (Bytes::from(lock.clone()), Some(head.value));
                TapEvent { key, change, value, by, expires_at_ms: None, primary: false, token }
            };
            let is_written_over = |before: &Head| {
                now.as_ref().is_some_and(|now| (&now.key, now.token) == (&before.key, before.token))
            };
            let ended = before.filter(|before| !is_written_over(before));
            told.extend(ended.map(|head| event(head, left, by)));
            if let Some(head) = now {
                let by = self.asked.get(&head.key).copied();
                told.push(event(head, KeyChange::Granted, by));
            }
        }
        told
    }

    pub(crate) fn restore(&mut self, store: &Store) -> Vec<TapEvent> {
        let all = Span { key: Bytes::from_static(b"\0"), end: Bytes::from_static(b"\0") };
        let keys: Vec<Bytes> = store.all(&all).map(|kv| kv.key.clone()).collect();
        let mut told = self.take_changes(store, keys.iter(), KeyChange::Discarded, None);
        told.iter_mut().for_each(|event| event.change = KeyChange::Restored);
        told
    }
}

fn is_lease(name: &str) -> bool {
    const LETTERS_MIN: usize = 8;
    name.len() >= LETTERS_MIN && name.bytes().all(|letter| letter.is_ascii_hexdigit())
}

fn head(store: &Store, lock: &str) -> Option<Head> {
    let gateway = format!("{GATEWAY_PREFIX}{lock}");
    let single = store.current(gateway.as_bytes()).or_else(|| store.current(lock.as_bytes()));
    if let Some(kv) = single {
        let value = match kv.value.is_empty() {
            true => Bytes::from(format!("{:x}", kv.lease)),
            false => kv.value.clone(),
        };
        return Some(Head { key: kv.key.clone(), value, token: kv.create_revision });
    }
    let below = format!("{lock}/");
    let (key, end) = (Bytes::from(below.clone()), Bytes::from(format!("{lock}0")));
    let first = store.all(&Span { key, end }).min_by_key(|kv| kv.create_revision)?;
    let value = first.key.slice(below.len()..);
    Some(Head { key: first.key.clone(), value, token: first.create_revision })
}
