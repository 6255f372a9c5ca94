use crate::data::number::parse_integer;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use std::borrow::Cow;

const INTEGERS_MAX: usize = 512;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Set {
    Integers(Vec<i64>),
    Table(IndexSet<Box<[u8]>, FxBuildHasher>),
}

impl Default for Set {
    fn default() -> Self {
        Set::Integers(Vec::new())
    }
}

impl Set {
    pub(crate) fn len(&self) -> usize {
        match self {
            Set::Integers(integers) => integers.len(),
            Set::Table(table) => table.len(),
        }
    }

    /// Estimates the memory in constant time, in bytes.
    pub(super) fn memory(&self) -> usize {
        match self {
            Set::Integers(integers) => 64 + 8 * integers.len(),
            Set::Table(table) => {
                64 + table.len() * (48 + table.first().map_or(0, |member| member.len()))
            }
        }
    }

    pub(crate) fn at(&self, position: usize) -> Option<Cow<'_, [u8]>> {
        match self {
            Set::Integers(integers) => integers.get(position).map(|integer| {
                Cow::Owned(itoa::Buffer::new().format(*integer).as_bytes().to_vec())
            }),
            Set::Table(table) => table.get_index(position).map(|member| Cow::Borrowed(&**member)),
        }
    }

    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = Cow<'_, [u8]>> {
        (0..self.len()).map(|position| self.at(position).unwrap_or_default())
    }

    pub(crate) fn contains(&self, member: &[u8]) -> bool {
        match self {
            Set::Integers(integers) => parse_integer(member)
                .is_some_and(|integer| integers.binary_search(&integer).is_ok()),
            Set::Table(table) => table.contains(member),
        }
    }

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
