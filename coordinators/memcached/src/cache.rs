//! Stores items by key and in order of use, up to a memory limit.

use crate::clock::{Clock, Expiry};
use bytes::Bytes;
use std::collections::BTreeMap;

/// Bytes per item in addition to its key and value: header, cas id, end of the key, line end.
const OVERHEAD: usize = 48 + 8 + 1 + 2;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Item {
    pub(crate) flags: u32,
    pub(crate) value: Bytes,
    pub(crate) expiry: Expiry,
    pub(crate) cas: u64,
    stored_at: u64,
    used: u64,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RemovedItem {
    Expired(Item),
    Flushed(Item),
}

/// The last flush (`oldest_live` and `oldest_cas`).
#[derive(Clone, Copy, Debug)]
struct Flush {
    /// Last clock reading before the flush, which drops items stored by then or with lower cas ids.
    at: u64,
    cas: u64,
}

#[derive(Debug)]
pub(crate) struct Cache {
    items: BTreeMap<Bytes, Item>,
    order: BTreeMap<u64, Bytes>,
    uses: u64,
    cas: u64,
    size: usize,
    limit: usize,
    flush: Option<Flush>,
}

impl Cache {
    pub(crate) fn new(limit: usize) -> Cache {
        let (items, order) = (BTreeMap::new(), BTreeMap::new());
        Cache { items, order, uses: 0, cas: 0, size: 0, limit, flush: None }
    }

    pub(crate) fn extent(&self) -> (usize, usize) {
        (self.items.len(), self.size)
    }

    fn next_cas(&mut self) -> u64 {
        self.cas += 1;
        self.cas
    }

    pub(crate) fn drop_if_gone(&mut self, key: &[u8], clock: &Clock) -> Option<RemovedItem> {
        let item = self.items.get(key)?;
        if self.is_flushed(item, clock) {
            return self.remove(key).map(RemovedItem::Flushed);
        }
        if clock.has_reached(item.expiry) {
            return self.remove(key).map(RemovedItem::Expired);
        }
        None
    }

    fn is_flushed(&self, item: &Item, clock: &Clock) -> bool {
        self.flush.is_some_and(|flush| {
            flush.at <= clock.shows && (item.stored_at <= flush.at || item.cas < flush.cas)
        })
    }

    pub(crate) fn get(&mut self, key: &[u8]) -> Option<&Item> {
        let (name, item) = self.items.get_key_value(key)?;
        let (name, before) = (name.clone(), item.used);
        self.uses += 1;
        self.order.remove(&before);
        self.order.insert(self.uses, name);
        let item = self.items.get_mut(key)?;
        item.used = self.uses;
        Some(item)
    }

    pub(crate) fn store(
        &mut self,
        key: &[u8],
        flags: u32,
        value: Bytes,
        expiry: Expiry,
        clock: &Clock,
    ) -> Vec<(Bytes, Item)> {
        self.remove(key);
        let evicted = self.make_room(key.len() + value.len() + OVERHEAD);
        self.uses += 1;
        let (used, cas, stored_at) = (self.uses, self.next_cas(), clock.shows);
        self.size += key.len() + value.len() + OVERHEAD;
        let name = Bytes::copy_from_slice(key);
        self.order.insert(used, name.clone());
        self.items.insert(name, Item { flags, value, expiry, cas, stored_at, used });
        evicted
    }

    fn make_room(&mut self, wanted: usize) -> Vec<(Bytes, Item)> {
        let mut evicted = Vec::new();
        while self.size + wanted > self.limit {
            let Some((_, key)) = self.order.first_key_value() else { break };
            let key = key.clone();
            evicted.extend(self.remove(&key).map(|item| (key, item)));
        }
        evicted
    }

    pub(crate) fn touch(&mut self, key: &[u8], expiry: Expiry) {
        if let Some(item) = self.items.get_mut(key) {
            item.expiry = expiry;
        }
    }

    pub(crate) fn overwrite(&mut self, key: &[u8], value: Bytes) {
        let cas = self.next_cas();
        if let Some(item) = self.items.get_mut(key) {
            (item.value, item.cas) = (value, cas);
        }
    }

    pub(crate) fn remove(&mut self, key: &[u8]) -> Option<Item> {
        let (key, item) = self.items.remove_entry(key)?;
        self.order.remove(&item.used);
        self.size -= key.len() + item.value.len() + OVERHEAD;
        Some(item)
    }

    pub(crate) fn evict_all(&mut self) -> Vec<(Bytes, Item)> {
        (self.order, self.size) = (BTreeMap::new(), 0);
        std::mem::take(&mut self.items).into_iter().collect()
    }

    pub(crate) fn flush(&mut self, at: Expiry, clock: &Clock) {
        let at = match at {
            Expiry::Never => clock.shows,
            Expiry::At(at) => at,
        };
        let before = at.saturating_sub(1);
        let earlier = self.flush.map_or(0, |flush| flush.cas);
        let cas = if before <= clock.shows { self.next_cas() } else { earlier };
        self.flush = Some(Flush { at: before, cas });
    }

    pub(crate) fn keys(&self) -> Vec<Bytes> {
        self.items.keys().cloned().collect()
    }

    pub(crate) fn fits(key: &[u8], length: usize) -> bool {
        key.len() + length + OVERHEAD <= 1024 * 1024
    }
}
