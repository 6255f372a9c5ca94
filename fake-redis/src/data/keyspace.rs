use crate::data::value::Value;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Estimated bytes of Redis's dictionary entry and object, without key and value.
const ENTRY_OVERHEAD: usize = 72;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    pub(crate) value: Value,
    /// Expiry in wall-clock milliseconds; `None` means never.
    expires_at_ms: Option<i64>,
    pub(crate) used_at_ms: i64,
    pub(crate) uses: u32,
    accounted: u32,
}

impl Entry {
    pub(crate) fn new(value: Value, expires_at_ms: Option<i64>) -> Self {
        Entry { value, expires_at_ms, used_at_ms: 0, uses: 0, accounted: 0 }
    }

    pub(crate) fn expires_at_ms(&self) -> Option<i64> {
        self.expires_at_ms
    }
}

type Entries = IndexMap<Box<[u8]>, Entry, FxBuildHasher>;

/// A database. A removal moves the last key to the freed position.
#[derive(Clone, Default, Debug)]
pub(crate) struct Database {
    entries: Entries,
    volatile: usize,
    memory: usize,
}

impl Database {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn volatile_len(&self) -> usize {
        self.volatile
    }

    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    pub(crate) fn find(&self, key: &[u8]) -> Option<usize> {
        self.entries.get_index_of(key)
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<&Entry> {
        self.entries.get(key)
    }

    pub(crate) fn at(&self, position: usize) -> Option<(&[u8], &Entry)> {
        self.entries.get_index(position).map(|(key, entry)| (&**key, entry))
    }

    /// Returns the entry at a position. Call [`Database::account`] after changing the entry's size.
    pub(crate) fn at_mut(&mut self, position: usize) -> Option<&mut Entry> {
        self.entries.get_index_mut(position).map(|(_, entry)| entry)
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &Entry)> {
        self.entries.iter().map(|(key, entry)| (&**key, entry))
    }

    pub(crate) fn insert(&mut self, key: &[u8], entry: Entry) -> usize {
        self.volatile += usize::from(entry.expires_at_ms.is_some());
        let position = match self.entries.get_index_of(key) {
            Some(position) => {
                let old = std::mem::replace(&mut self.entries[position], entry);
                self.memory -= old.accounted as usize;
                self.volatile -= usize::from(old.expires_at_ms.is_some());
                position
            }
            None => self.entries.insert_full(key.into(), entry).0,
        };
        self.account(position);
        position
    }

    pub(crate) fn remove_at(&mut self, position: usize) -> Option<(Box<[u8]>, Entry)> {
        let (key, entry) = self.entries.swap_remove_index(position)?;
        self.memory -= entry.accounted as usize;
        self.volatile -= usize::from(entry.expires_at_ms.is_some());
        Some((key, entry))
    }

    pub(crate) fn set_expiry(&mut self, position: usize, expires_at_ms: Option<i64>) {
        let Some((_, entry)) = self.entries.get_index_mut(position) else { return };
        self.volatile -= usize::from(entry.expires_at_ms.is_some());
        self.volatile += usize::from(expires_at_ms.is_some());
        entry.expires_at_ms = expires_at_ms;
    }

    pub(crate) fn account(&mut self, position: usize) {
        let Some((key, entry)) = self.entries.get_index_mut(position) else { return };
        let size =
            u32::try_from(ENTRY_OVERHEAD + key.len() + entry.value.memory()).unwrap_or(u32::MAX);
        self.memory = self.memory - entry.accounted as usize + size as usize;
        entry.accounted = size;
    }

    pub(crate) fn take_all(&mut self) -> impl ExactSizeIterator<Item = (Box<[u8]>, Entry)> + use<> {
        std::mem::take(self).entries.into_iter()
    }
}

#[derive(Clone, Default, Debug)]
pub(crate) struct Keyspace {
    databases: Vec<Database>,
}

impl Keyspace {
    pub(crate) fn new(count: usize) -> Self {
        Keyspace { databases: vec![Database::default(); count] }
    }

    pub(crate) fn databases(&self) -> usize {
        self.databases.len()
    }

    pub(crate) fn database(&self, number: usize) -> &Database {
        &self.databases[number]
    }

    pub(crate) fn database_mut(&mut self, number: usize) -> &mut Database {
        &mut self.databases[number]
    }

    pub(crate) fn swap(&mut self, one: usize, other: usize) {
        self.databases.swap(one, other);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &[u8], &Entry)> {
        let numbered = self.databases.iter().enumerate();
        numbered.flat_map(|(number, database)| {
            database.iter().map(move |(key, entry)| (number, key, entry))
        })
    }

    pub(crate) fn memory(&self) -> usize {
        self.databases.iter().map(Database::memory).sum()
    }
}
