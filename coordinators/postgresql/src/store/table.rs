//! What a table is made of.

use super::snapshot::Snapshot;
use super::{TableId, VersionId, Xid};
use crate::bound::Bound;
use crate::sql::ast::Strength;
use crate::types::{Type, Value};
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) not_null: bool,
    pub(crate) default: Option<Rc<Bound>>,
    /// The text of the default, to be written to the log.
    pub(crate) default_text: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Index {
    pub(crate) name: String,
    pub(crate) columns: Vec<usize>,
    pub(crate) is_primary: bool,
}

/// A table and its rows.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) id: TableId,
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) indexes: Vec<Index>,
    /// Who creates it, until that is committed.
    pub(crate) creator: Option<Xid>,
    /// Who drops it, until that is committed.
    pub(crate) dropper: Option<Xid>,
    pub(crate) versions: BTreeMap<VersionId, Version>,
}

/// A version of a row.
#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) values: Rc<Vec<Value>>,
    /// Who made it, and in which statement.
    pub(crate) made: (Xid, u32),
    pub(crate) ended: Option<Ended>,
    /// How many of the indexes know it.
    pub(crate) indexed: usize,
    pub(crate) lockers: Vec<(Xid, Strength)>,
    /// The version that it replaced, if no key changed: the indexes lead to it over that one.
    pub(crate) follows: Option<VersionId>,
    /// The first version of the same key, where the indexes lead to: decides the order of rows.
    pub(crate) place: VersionId,
}

/// How a version came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ended {
    pub(crate) by: Xid,
    pub(crate) command: u32,
    /// The version that replaced it; `None` if it was deleted.
    pub(crate) next: Option<VersionId>,
    /// How strongly that locks the row while its transaction runs.
    pub(crate) strength: Strength,
}

impl Version {
    pub(crate) fn is_seen(&self, snapshot: &Snapshot) -> bool {
        let has_ended = self.ended.is_some_and(|ended| snapshot.sees(ended.by, ended.command));
        snapshot.sees(self.made.0, self.made.1) && !has_ended
    }
}

impl Definition {
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The values of an index's columns.
    pub(crate) fn key(index: &Index, values: &[Value]) -> Vec<Value> {
        index.columns.iter().map(|column| values[*column].clone()).collect()
    }
}
