//! What a key can hold.

mod list;
mod ranked;
mod set;
mod sorted_set;

pub(crate) use list::{End, List};
pub(crate) use set::Set;
pub(crate) use sorted_set::SortedSet;

use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

/// Redis keeps hashes up to this many fields as a list, in order of insertion:
/// `hash-max-listpack-entries`.
const LISTED_FIELDS_MAX: usize = 512;
/// Redis keeps hashes with fields and values up to this long as a list: `hash-max-listpack-value`.
const LISTED_VALUE_LENGTH_MAX: usize = 64;

/// The content of a key. Only a string lies in it: what is moved with every key that comes and goes
/// is small.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    /// A string of any bytes.
    String(Vec<u8>),
    /// Fields with a string each; never empty while it is in a keyspace.
    Hash(Box<Hash>),
    /// Strings in an order; never empty while it is in a keyspace.
    List(Box<List>),
    /// Different strings; never empty while it is in a keyspace.
    Set(Box<Set>),
    /// Different strings in the order of their scores; never empty while it is in a keyspace.
    SortedSet(Box<SortedSet>),
}

impl Value {
    /// The type's name as TYPE tells it.
    pub(crate) fn type_name(&self) -> &'static str {
        match self {
            Value::String(_) => "string",
            Value::Hash(_) => "hash",
            Value::List(_) => "list",
            Value::Set(_) => "set",
            Value::SortedSet(_) => "zset",
        }
    }

    /// The encoding that Redis would have chosen.
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
        }
    }

    /// About how many bytes it takes; constant time.
    pub(crate) fn memory(&self) -> usize {
        match self {
            Value::String(text) => 16 + text.len(),
            Value::Hash(hash) => 64 + hash.bytes + 48 * hash.len(),
            Value::List(list) => list.memory(),
            Value::Set(set) => set.memory(),
            Value::SortedSet(set) => set.memory(),
        }
    }
}

/// A hash: in order of insertion while it is small, as Redis's listpacks are; in a repeatable order
/// beyond.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Hash {
    fields: IndexMap<Box<[u8]>, Vec<u8>, FxBuildHasher>,
    /// The lengths of all fields and values.
    bytes: usize,
    /// Whether it was ever too big for a listpack; it never goes back.
    table: bool,
}

impl Hash {
    /// How many fields there are.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether it is small enough to be kept as a list.
    pub(crate) fn is_listed(&self) -> bool {
        !self.table
    }

    /// The value of a field.
    pub(crate) fn get(&self, field: &[u8]) -> Option<&[u8]> {
        self.fields.get(field).map(Vec::as_slice)
    }

    /// Field and value at a position; positions change only when fields are removed.
    pub(crate) fn at(&self, position: usize) -> Option<(&[u8], &[u8])> {
        self.fields.get_index(position).map(|(field, value)| (&**field, value.as_slice()))
    }

    /// All fields with their values.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> {
        self.fields.iter().map(|(field, value)| (&**field, value.as_slice()))
    }

    /// Sets a field; true if it is new.
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

    /// Removes a field; false if there is none.
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
