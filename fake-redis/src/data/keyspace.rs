//! The databases: keys with their values and times of expiry.

use crate::data::value::Value;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// What a key costs besides its own bytes and its value's: about what Redis pays for a dictionary
/// entry and an object.
const ENTRY_OVERHEAD: usize = 72;

/// A key's content and what is known of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Entry {
    /// The content.
    pub(crate) value: Value,
    /// When it ends, in wall-clock milliseconds since the Unix epoch; `None` is never. Set through
    /// [`Database::set_expiry`].
    expires_at_ms: Option<i64>,
    /// When it was last used, in wall-clock milliseconds.
    pub(crate) used_at_ms: i64,
    /// How often it was used.
    pub(crate) uses: u32,
    /// The memory that the database counts for it.
    accounted: u32,
}

impl Entry {
    /// An entry that was never used.
    pub(crate) fn new(value: Value, expires_at_ms: Option<i64>) -> Self {
        Entry { value, expires_at_ms, used_at_ms: 0, uses: 0, accounted: 0 }
    }

    /// When it ends, in wall-clock milliseconds; `None` is never.
    pub(crate) fn expires_at_ms(&self) -> Option<i64> {
        self.expires_at_ms
    }
}

type Entries = IndexMap<Box<[u8]>, Entry, FxBuildHasher>;

/// One numbered database. Its order is repeatable: that of insertion, but a removed key's place
/// goes to the last one.
#[derive(Clone, Default, Debug)]
pub(crate) struct Database {
    entries: Entries,
    volatile: usize,
    memory: usize,
}

impl Database {
    /// How many keys there are, expired ones included.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many keys have a time to live.
    pub(crate) fn volatile_len(&self) -> usize {
        self.volatile
    }

    /// About how many bytes the keys take.
    pub(crate) fn memory(&self) -> usize {
        self.memory
    }

    /// The position of a key, good until a key is removed.
    pub(crate) fn find(&self, key: &[u8]) -> Option<usize> {
        self.entries.get_index_of(key)
    }

    /// The entry of a key.
    pub(crate) fn get(&self, key: &[u8]) -> Option<&Entry> {
        self.entries.get(key)
    }

    /// Key and entry at a position.
    pub(crate) fn at(&self, position: usize) -> Option<(&[u8], &Entry)> {
        self.entries.get_index(position).map(|(key, entry)| (&**key, entry))
    }

    /// The entry at a position, to be changed in place; call [`Database::account`] after its size
    /// changed.
    pub(crate) fn at_mut(&mut self, position: usize) -> Option<&mut Entry> {
        self.entries.get_index_mut(position).map(|(_, entry)| entry)
    }

    /// All keys with their entries, expired ones included.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &Entry)> {
        self.entries.iter().map(|(key, entry)| (&**key, entry))
    }

    /// Puts an entry at a key, in place of what was there; returns its position.
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

    /// Removes a key; the last key takes its position.
    pub(crate) fn remove_at(&mut self, position: usize) -> Option<(Box<[u8]>, Entry)> {
        let (key, entry) = self.entries.swap_remove_index(position)?;
        self.memory -= entry.accounted as usize;
        self.volatile -= usize::from(entry.expires_at_ms.is_some());
        Some((key, entry))
    }

    /// Sets or takes away the time of expiry of the key at a position.
    pub(crate) fn set_expiry(&mut self, position: usize, expires_at_ms: Option<i64>) {
        let Some((_, entry)) = self.entries.get_index_mut(position) else { return };
        self.volatile -= usize::from(entry.expires_at_ms.is_some());
        self.volatile += usize::from(expires_at_ms.is_some());
        entry.expires_at_ms = expires_at_ms;
    }

    /// Counts the memory of the key at a position anew.
    pub(crate) fn account(&mut self, position: usize) {
        let Some((key, entry)) = self.entries.get_index_mut(position) else { return };
        let size =
            u32::try_from(ENTRY_OVERHEAD + key.len() + entry.value.memory()).unwrap_or(u32::MAX);
        self.memory = self.memory - entry.accounted as usize + size as usize;
        entry.accounted = size;
    }

    /// Hands out all keys and is empty afterwards.
    pub(crate) fn take_all(&mut self) -> impl ExactSizeIterator<Item = (Box<[u8]>, Entry)> + use<> {
        std::mem::take(self).entries.into_iter()
    }
}

/// All databases of a server.
#[derive(Clone, Default, Debug)]
pub(crate) struct Keyspace {
    databases: Vec<Database>,
}

impl Keyspace {
    /// `count` empty databases.
    pub(crate) fn new(count: usize) -> Self {
        Keyspace { databases: vec![Database::default(); count] }
    }

    /// How many databases there are.
    pub(crate) fn databases(&self) -> usize {
        self.databases.len()
    }

    /// The database with this number, which must be below [`Keyspace::databases`].
    pub(crate) fn database(&self, number: usize) -> &Database {
        &self.databases[number]
    }

    /// The database with this number, to be changed.
    pub(crate) fn database_mut(&mut self, number: usize) -> &mut Database {
        &mut self.databases[number]
    }

    /// Exchanges two databases.
    pub(crate) fn swap(&mut self, one: usize, other: usize) {
        self.databases.swap(one, other);
    }

    /// Every key of every database: number, key, entry. What a snapshot is made of.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, &[u8], &Entry)> {
        let numbered = self.databases.iter().enumerate();
        numbered.flat_map(|(number, database)| {
            database.iter().map(move |(key, entry)| (number, key, entry))
        })
    }

    /// About how many bytes all keys take.
    pub(crate) fn memory(&self) -> usize {
        self.databases.iter().map(Database::memory).sum()
    }
}
