use super::snapshot::Snapshot;
use super::{TableId, VersionId, Xid};
use crate::bound::Bound;
use crate::sql::ast::Strength;
use crate::types::{Type, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) not_null: bool,
    pub(crate) default: Option<Rc<Bound>>,
    pub(crate) default_text: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Index {
    pub(crate) name: String,
    pub(crate) columns: Vec<usize>,
    pub(crate) is_primary: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub(crate) id: TableId,
    pub(crate) name: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) indexes: Vec<Index>,
    pub(crate) creator: Option<Xid>,
    pub(crate) dropper: Option<Xid>,
    pub(crate) versions: BTreeMap<VersionId, Version>,
}

#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) values: Rc<Vec<Value>>,
    pub(crate) made: (Xid, u32),
    pub(crate) ended: Option<Ended>,
    pub(crate) indexed: usize,
    pub(crate) lockers: Vec<(Xid, Strength)>,
    /// The version that this one replaced; `None` if it is the first or changed an indexed column.
    pub(crate) follows: Option<VersionId>,
    /// The first of the versions linked by `follows`. Indexes point to this version.
    pub(crate) place: VersionId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ended {
    pub(crate) by: Xid,
    pub(crate) command: u32,
    pub(crate) next: Option<VersionId>,
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

    pub(crate) fn key(index: &Index, values: &[Value]) -> Vec<Value> {
        index.columns.iter().map(|column| values[*column].clone()).collect()
    }
}
