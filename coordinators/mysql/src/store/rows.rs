//! The rows of a table in the order of their keys, each with its versions.

use super::key::{Key, Part};
use super::schema::folded;
use super::xid::Xid;
use crate::value::Value;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::rc::Rc;

/// The values of a row.
pub(crate) type Values = Rc<Vec<Value>>;

/// What a transaction made of a row.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) by: Xid,
    /// `None` if it was deleted.
    pub(crate) values: Option<Values>,
}

/// Versions, the oldest first. There is at least one.
pub(crate) type Versions = Vec<Version>;

/// All rows of a table, with those that are deleted and that somebody may still look at.
#[derive(Debug, Default)]
pub(crate) struct Rows(pub(crate) BTreeMap<Key, Versions>);

impl Rows {
    /// The key of the first row after another, or of the first of all.
    pub(crate) fn after(&self, key: Option<&Key>) -> Option<&Key> {
        let from = key.map_or(Bound::Unbounded, Bound::Excluded);
        self.0.range::<Key, _>((from, Bound::Unbounded)).next().map(|(key, _)| key)
    }

    pub(crate) fn newest(&self, key: &Key) -> Option<&Version> {
        self.0.get(key)?.last()
    }
}

/// The key of a row whose key is one text.
pub(crate) fn text_key(text: &str) -> Option<Key> {
    folded(text.as_bytes()).ok().map(|text| vec![Part::Text(text)])
}
