//! All revisions of all keys ([`Store`]), without compaction.

use crate::refusal::Refusal;
use crate::request::Range;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::ops::Bound;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct KeyValue {
    pub(crate) key: Bytes,
    pub(crate) create_revision: i64,
    pub(crate) mod_revision: i64,
    pub(crate) version: i64,
    pub(crate) value: Bytes,
    pub(crate) lease: i64,
}

/// A change to a key. For a deletion, `kv` has only the key and the revision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    pub(crate) is_put: bool,
    pub(crate) kv: KeyValue,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Found {
    pub(crate) kvs: Vec<KeyValue>,
    pub(crate) count: i64,
    pub(crate) more: bool,
    pub(crate) revision: i64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Span {
    pub(crate) key: Bytes,
    /// End of the range: empty for the single key, a zero byte for all keys from `key` on.
    pub(crate) end: Bytes,
}

impl Span {
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        match self.end.as_ref() {
            [] => self.key == key,
            [0] => key >= self.key.as_ref(),
            end => key >= self.key.as_ref() && key < end,
        }
    }

    fn bounds(&self) -> (Bound<Bytes>, Bound<Bytes>) {
        let start = Bound::Included(self.key.clone());
        match self.end.as_ref() {
            [] => (start.clone(), start),
            [0] => (start, Bound::Unbounded),
            end if end <= self.key.as_ref() => (start, Bound::Excluded(self.key.clone())),
            _ => (start, Bound::Excluded(self.end.clone())),
        }
    }
}

type Versions = Vec<(i64, Option<KeyValue>)>;

#[derive(Clone, Debug)]
pub(crate) struct Store {
    keys: BTreeMap<Bytes, Versions>,
    live: BTreeMap<Bytes, KeyValue>,
    history: Vec<(i64, Vec<Event>)>,
    revision: i64,
    changes: Vec<Event>,
}

impl Store {
    pub(crate) fn new() -> Store {
        Store {
            keys: BTreeMap::new(),
            live: BTreeMap::new(),
            history: Vec::new(),
            revision: 1,
            changes: Vec::new(),
        }
    }

    pub(crate) fn revision(&self) -> i64 {
        self.revision
    }

    fn seen(&self) -> i64 {
        self.revision + i64::from(!self.changes.is_empty())
    }

    pub(crate) fn get(&self, key: &[u8], revision: i64) -> Option<&KeyValue> {
        state_at(self.keys.get(key)?, revision)
    }

    pub(crate) fn current(&self, key: &[u8]) -> Option<&KeyValue> {
        self.live.get(key)
    }

    pub(crate) fn all<'s>(&'s self, span: &Span) -> impl Iterator<Item = &'s KeyValue> + use<'s> {
        self.live.range(span.bounds()).map(|(_, kv)| kv)
    }

    pub(crate) fn check_revision(&self, revision: i64) -> Result<(), Refusal> {
        if revision > self.seen() { Err(Refusal::FutureRevision) } else { Ok(()) }
    }

    pub(crate) fn range(&self, wanted: &Range) -> Result<Found, Refusal> {
        self.check_revision(wanted.revision)?;
        let latest = self.seen();
        let at = if wanted.revision > 0 { wanted.revision } else { latest };
        let span = Span { key: wanted.key.clone(), end: wanted.range_end.clone() };
        let mut kvs: Vec<&KeyValue> = if at >= latest {
            self.all(&span).collect()
        } else {
            let keys = self.keys.range(span.bounds());
            keys.filter_map(|(_, versions)| state_at(versions, at)).collect()
        };
        let count = i64::try_from(kvs.len()).unwrap_or(i64::MAX);
        if wanted.count_only {
            return Ok(Found { count, revision: latest, ..Found::default() });
        }
        let is_within = |value: i64, least: i64, most: i64| {
            (most == 0 || value <= most) && (least == 0 || value >= least)
        };
        kvs.retain(|kv| {
            is_within(kv.mod_revision, wanted.min_mod_revision, wanted.max_mod_revision)
                && is_within(
                    kv.create_revision, wanted.min_create_revision, wanted.max_create_revision,
                )
        });
        sort(&mut kvs, wanted);
        let limit = usize::try_from(wanted.limit).unwrap_or(0);
        let more = limit > 0 && kvs.len() > limit;
        if more {
            kvs.truncate(limit);
        }
        let shown = |kv: &KeyValue| {
            let value = if wanted.keys_only { Bytes::new() } else { kv.value.clone() };
            KeyValue { value, ..kv.clone() }
        };
        Ok(Found { kvs: kvs.into_iter().map(shown).collect(), count, more, revision: latest })
    }

    pub(crate) fn put(&mut self, key: &Bytes, value: Bytes, lease: i64) -> i64 {
        let revision = self.revision + 1;
        let before = self.current(key);
        let kv = KeyValue {
            key: key.clone(),
            create_revision: before.map_or(revision, |before| before.create_revision),
            mod_revision: revision,
            version: before.map_or(1, |before| before.version + 1),
            value,
            lease,
        };
        self.keys.entry(key.clone()).or_default().push((revision, Some(kv.clone())));
        self.live.insert(key.clone(), kv.clone());
        self.changes.push(Event { is_put: true, kv });
        revision
    }

    pub(crate) fn delete(&mut self, span: &Span) -> Vec<KeyValue> {
        let revision = self.revision + 1;
        let deleted: Vec<KeyValue> = self.all(span).cloned().collect();
        for kv in &deleted {
            self.live.remove(&kv.key);
            self.keys.entry(kv.key.clone()).or_default().push((revision, None));
            let key = kv.key.clone();
            let gone = KeyValue { key, mod_revision: revision, ..KeyValue::default() };
            self.changes.push(Event { is_put: false, kv: gone });
        }
        deleted
    }

    pub(crate) fn written(&self) -> i64 {
        self.seen()
    }

    pub(crate) fn commit(&mut self) -> Vec<Event> {
        let changes = std::mem::take(&mut self.changes);
        if !changes.is_empty() {
            self.revision += 1;
            self.history.push((self.revision, changes.clone()));
        }
        changes
    }

    pub(crate) fn since(&self, revision: i64) -> impl Iterator<Item = &Event> {
        let start = self.history.partition_point(|(at, _)| *at < revision);
        self.history[start..].iter().flat_map(|(_, events)| events)
    }
}

fn state_at(versions: &Versions, revision: i64) -> Option<&KeyValue> {
    let after = versions.partition_point(|(at, _)| *at <= revision);
    versions.get(after.checked_sub(1)?)?.1.as_ref()
}

fn sort(kvs: &mut [&KeyValue], wanted: &Range) {
    match wanted.sort_target {
        1 => kvs.sort_by_key(|kv| kv.version),
        2 => kvs.sort_by_key(|kv| kv.create_revision),
        3 => kvs.sort_by_key(|kv| kv.mod_revision),
        4 => kvs.sort_by(|one, other| one.value.cmp(&other.value)),
        _ => {}
    }
    if wanted.sort_order == 2 {
        // Entries with equal sort keys keep their order.
        kvs.reverse();
        let same = |one: &&KeyValue, other: &&KeyValue| match wanted.sort_target {
            1 => one.version == other.version,
            2 => one.create_revision == other.create_revision,
            3 => one.mod_revision == other.mod_revision,
            4 => one.value == other.value,
            _ => one.key == other.key,
        };
        kvs.chunk_by_mut(same).for_each(<[_]>::reverse);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(store: &mut Store, key: &'static str, value: &'static str) {
        store.put(&Bytes::from_static(key.as_bytes()), Bytes::from_static(value.as_bytes()), 0);
        store.commit();
    }

    fn values(store: &Store, revision: i64) -> Result<Vec<Bytes>, Refusal> {
        let range_end = Bytes::from_static(b"\0");
        let wanted = Range { range_end, revision, ..Range::of(Bytes::from_static(b"\0")) };
        Ok(store.range(&wanted)?.kvs.into_iter().map(|kv| kv.value).collect())
    }

    #[test]
    fn every_revision_can_be_read() {
        let mut store = Store::new();
        put(&mut store, "a", "1");
        put(&mut store, "a", "2");
        let span = Span { key: Bytes::from_static(b"a"), end: Bytes::new() };
        assert_eq!(store.delete(&span).len(), 1);
        store.commit();
        put(&mut store, "a", "3");
        assert_eq!(values(&store, 2), Ok(vec!["1".into()]));
        assert_eq!(values(&store, 4), Ok(vec![]));
        assert_eq!(values(&store, 6), Err(Refusal::FutureRevision));
        let kv = store.current(b"a").expect("a key");
        assert_eq!((kv.create_revision, kv.mod_revision, kv.version), (5, 5, 1));
        assert_eq!(values(&store, 0), Ok(vec!["3".into()]));
        assert_eq!(store.since(4).count(), 2);
    }
}
