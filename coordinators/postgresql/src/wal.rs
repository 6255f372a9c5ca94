//! The log of committed changes, in fencepost's own format.

use crate::bind::Binder;
use crate::error::Outcome;
use crate::sql::{self, ast};
use crate::store::heap::Heap;
use crate::store::table::{Column, Definition, Index, Version};
use crate::store::{TableId, VersionId, Xid};
use crate::types::{Type, Value};
use bytes::Bytes;
use fencepost_machine::journal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) enum Record {
    Table { id: TableId, name: String, columns: Vec<Field>, indexes: Vec<Index> },
    Drop(TableId),
    Put(TableId, VersionId, Vec<Value>),
    Remove(TableId, VersionId),
}

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Field {
    name: String,
    kind: Type,
    not_null: bool,
    default: Option<String>,
}

/// Transaction id and command number of rows loaded from the log.
const BEFORE: (Xid, u32) = (Xid(2), 0);

impl Record {
    pub(crate) fn table(table: &Definition) -> Record {
        let field = |column: &Column| Field {
            name: column.name.clone(),
            kind: column.kind,
            not_null: column.not_null,
            default: column.default_text.clone(),
        };
        Record::Table {
            id: table.id,
            name: table.name.clone(),
            columns: table.columns.iter().map(field).collect(),
            indexes: table.indexes.clone(),
        }
    }

    pub(crate) fn put(table: TableId, id: VersionId, version: &Version) -> Record {
        Record::Put(table, id, version.values.as_ref().clone())
    }
}

pub(crate) fn group(records: &[Record]) -> Bytes {
    journal::record(&serde_json::to_vec(records).expect("a commit is JSON"))
}

pub(crate) fn groups(log: &Bytes) -> impl Iterator<Item = Vec<Record>> {
    journal::read(log).records.into_iter().map(commit)
}

/// Reads a commit. Panics on a malformed record, which the checksums rule out.
fn commit(group: Bytes) -> Vec<Record> {
    serde_json::from_slice(&group).expect("a commit as it was written")
}

pub(crate) fn replay(groups: Vec<Bytes>) -> Heap {
    let mut heap = Heap::new();
    groups.into_iter().flat_map(commit).for_each(|record| redo(&mut heap, record));
    heap
}

pub(crate) fn redo(heap: &mut Heap, record: Record) {
    match record {
        Record::Table { id, name, columns, indexes } => {
            let columns = columns.into_iter().filter_map(|field| column_of(field).ok()).collect();
            let (creator, dropper, versions) = (None, None, BTreeMap::new());
            heap.restore(Definition { id, name, columns, indexes, creator, dropper, versions });
        }
        Record::Drop(id) => drop(heap.forget(id)),
        Record::Put(id, version, values) => {
            let indexed = heap.get(id).map_or(0, |table| table.indexes.len());
            heap.put(id, version, values, BEFORE, indexed);
        }
        Record::Remove(id, version) => heap.remove(id, version),
    }
}

fn column_of(field: Field) -> Outcome<Column> {
    let mut column = Column {
        name: field.name,
        kind: field.kind,
        not_null: field.not_null,
        default: None,
        default_text: field.default,
    };
    if let Some(text) = &column.default_text {
        let parsed = sql::parse(&format!("SELECT {text}"))?.pop();
        if let Some(ast::Statement::Select(select)) = parsed.map(|parsed| parsed.statement)
            && let Some(ast::Item::Expression { expression, .. }) = select.items.first()
        {
            let bound = Binder::new(None, None, Vec::new()).stored(expression, &column)?;
            column.default = Some(Rc::new(bound));
        }
    }
    Ok(column)
}

pub(crate) fn checkpoint(heap: &Heap) -> Bytes {
    let mut records = Vec::new();
    for table in heap.tables() {
        records.push(Record::table(table));
        let live = table.versions.iter().filter(|(_, version)| version.ended.is_none());
        records.extend(live.map(|(id, version)| Record::put(table.id, *id, version)));
    }
    group(&records)
}
