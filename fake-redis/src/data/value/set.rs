//! A set of strings.

use crate::data::number::parse_integer;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::borrow::Cow;

/// Redis keeps sets of up to this many integers as a sorted array: `set-max-intset-entries`.
const INTEGERS_MAX: usize = 512;

/// A set; never empty while it is in a keyspace. Integers alone are kept in their order, as in
/// Redis; else the order is repeatable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Set {
    /// In ascending order.
    Integers(Vec<i64>),
    /// Anything; it never goes back.
    Table(IndexSet<Box<[u8]>, FxBuildHasher>),
}

impl Default for Set {
    fn default() -> Self {
        Set::Integers(Vec::new())
    }
}

impl Set {
    /// How many members there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            Set::Integers(integers) => integers.len(),
            Set::Table(table) => table.len(),
        }
    }

    /// About how many bytes it takes; the lengths of members are estimated by the first one, so
    /// that it takes constant time.
    pub(super) fn memory(&self) -> usize {
        match self {
            Set::Integers(integers) => 64 + 8 * integers.len(),
            Set::Table(table) => {
                64 + table.len() * (48 + table.first().map_or(0, |member| member.len()))
            }
        }
    }

    /// The member at a position; positions change when members are added or removed.
    pub(crate) fn at(&self, position: usize) -> Option<Cow<'_, [u8]>> {
        match self {
            Set::Integers(integers) => integers.get(position).map(|integer| {
                Cow::Owned(itoa::Buffer::new().format(*integer).as_bytes().to_vec())
            }),
            Set::Table(table) => table.get_index(position).map(|member| Cow::Borrowed(&**member)),
        }
    }

    /// All members.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Cow<'_, [u8]>> {
        (0..self.len()).map(|position| self.at(position).unwrap_or_default())
    }

    /// Whether this is a member.
    pub(crate) fn contains(&self, member: &[u8]) -> bool {
        match self {
            Set::Integers(integers) => parse_integer(member)
                .is_some_and(|integer| integers.binary_search(&integer).is_ok()),
            Set::Table(table) => table.contains(member),
        }
    }

    /// Adds a member; false if it is one.
    pub(crate) fn add(&mut self, member: &[u8]) -> bool {
        if let Set::Integers(integers) = self {
            if let Some(integer) = parse_integer(member) {
                let Err(place) = integers.binary_search(&integer) else { return false };
                integers.insert(place, integer);
                if integers.len() > INTEGERS_MAX {
                    self.become_table();
                }
                return true;
            }
            self.become_table();
        }
        match self {
            Set::Table(table) => table.insert(member.into()),
            Set::Integers(_) => false,
        }
    }

    fn become_table(&mut self) {
        let members = self.iter().map(|member| member.into_owned().into_boxed_slice()).collect();
        *self = Set::Table(members);
    }

    /// Removes a member; false if it is none.
    pub(crate) fn remove(&mut self, member: &[u8]) -> bool {
        match self {
            Set::Integers(integers) => {
                let place =
                    parse_integer(member).and_then(|integer| integers.binary_search(&integer).ok());
                place.map(|place| integers.remove(place)).is_some()
            }
            Set::Table(table) => table.swap_remove(member),
        }
    }
}
