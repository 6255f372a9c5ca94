//! The value types: strings, hashes, lists, sets, sorted sets and streams.

mod list;
mod ranked;
mod set;
mod sorted_set;
pub(crate) mod stream;

pub(crate) use list::{End, List};
pub(crate) use set::Set;
pub(crate) use sorted_set::SortedSet;
pub(crate) use stream::{Entry, Keep, NODE_ENTRIES_MAX, Pairs, Stream, StreamId, Trim};

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Redis's default `hash-max-listpack-entries`. A larger hash does not keep its insertion order.
const LISTED_FIELDS_MAX: usize = 512;
const LISTED_VALUE_LENGTH_MAX: usize = 64;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    String(Vec<u8>),
    Hash(Box<Hash>),
    List(Box<List>),
    Set(Box<Set>),
    SortedSet(Box<SortedSet>),
    Stream(Box<Stream>),
}

impl Value {
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::String(_) => "string",
            Value::Hash(_) => "hash",
            Value::List(_) => "list",
            Value::Set(_) => "set",
            Value::SortedSet(_) => "zset",
            Value::Stream(_) => "stream",
        }
    }

    pub(crate) fn encoding(&self) -> &'static str {
        match self {
            Value::String(text) if crate::data::number::parse_integer(text).is_some() => "int",
            Value::String(text) if text.len() <= 44 => "embstr",
            Value::String(_) => "raw",
            Value::Hash(hash) if hash.is_listed() => "listpack",
            Value::Hash(_) => "hashtable",
            Value::List(_) => "quicklist",
            Value::Set(set) if matches!(**set, Set::Integers(_)) => "intset",
            Value::Set(_) => "hashtable",
            Value::SortedSet(set) if set.is_listed() => "listpack",
            Value::SortedSet(_) => "skiplist",
            Value::Stream(_) => "stream",
        }
    }

    pub(crate) fn memory(&self) -> usize {
        match self {
            Value::String(text) => 16 + text.len(),
            Value::Hash(hash) => 64 + hash.bytes + 48 * hash.len(),
            Value::List(list) => list.memory(),
            Value::Set(set) => set.memory(),
            Value::SortedSet(set) => set.memory(),
            Value::Stream(stream) => stream.memory(),
        }
    }
}

/// A hash. A small hash keeps insertion order, a larger hash another deterministic order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Hash {
    fields: IndexMap<Box<[u8]>, Vec<u8>, FxBuildHasher>,
    bytes: usize,
    /// `true` once the hash has outgrown a listpack. Removals do not convert the hash back.
    table: bool,
}

impl Hash {
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    pub(crate) fn is_listed(&self) -> bool {
        !self.table
    }

    pub(crate) fn get(&self, field: &[u8]) -> Option<&[u8]> {
        self.fields.get(field).map(Vec::as_slice)
    }

    pub(crate) fn at(&self, position: usize) -> Option<(&[u8], &[u8])> {
        self.fields.get_index(position).map(|(field, value)| (&**field, value.as_slice()))
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> {
        self.fields.iter().map(|(field, value)| (&**field, value.as_slice()))
    }

    pub(crate) fn set(&mut self, field: &[u8], value: &[u8]) -> bool {
        self.table |=
            field.len() > LISTED_VALUE_LENGTH_MAX || value.len() > LISTED_VALUE_LENGTH_MAX;
        self.bytes += value.len();
        if let Some(old) = self.fields.get_mut(field) {
            self.bytes -= old.len();
            old.clear();
            old.extend_from_slice(value);
            return false;
        }
        self.bytes += field.len();
        self.fields.insert(field.into(), value.to_vec());
        self.table |= self.fields.len() > LISTED_FIELDS_MAX;
        true
    }

    pub(crate) fn remove(&mut self, field: &[u8]) -> bool {
        let removed = if self.table {
            self.fields.swap_remove(field)
        } else {
            self.fields.shift_remove(field)
        };
        let Some(value) = removed else { return false };
        self.bytes -= field.len() + value.len();
        true
    }
}
