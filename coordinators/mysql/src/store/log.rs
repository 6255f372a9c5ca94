//! The log of committed changes, in fencepost's own format.

use super::key::Key;
use super::rows::Version;
use super::schema::Definition;
use super::xid::Xid;
use super::{Store, TableName};
use crate::value::Value;
use bytes::Bytes;
use fencepost_machine::journal;
use serde::{Deserialize, Serialize};
use std::rc::Rc;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Record {
    Database(String),
    Table(Definition),
    Drop(TableName),
    Put(TableName, Vec<Value>),
    Remove(TableName, Key),
}

pub(crate) fn group(records: &[Record]) -> Bytes {
    journal::record(&serde_json::to_vec(records).expect("a commit is JSON"))
}

/// Replays the log. Panics on a malformed group, which the checksums rule out.
pub(crate) fn replay(groups: Vec<Bytes>) -> Store {
    let mut store = Store::default();
    for group in groups {
        let records: Vec<Record> =
            serde_json::from_slice(&group).expect("a commit as it was written");
        records.into_iter().for_each(|record| restore(&mut store, record));
    }
    store.unlogged.clear();
    store
}

const BEFORE: Xid = Xid(0);

fn restore(store: &mut Store, record: Record) {
    match record {
        Record::Database(name) => store.create_database(&name),
        Record::Table(definition) => store.create_table(definition),
        Record::Drop(name) => store.drop_table(&name),
        Record::Put(name, values) => {
            let Some(table) = store.find(&name).ok().and_then(|id| store.tables.get_mut(&id))
            else {
                return;
            };
            if let Ok(key) = table.definition.key_of(&values) {
                let version = Version { by: BEFORE, values: Some(Rc::new(values)) };
                table.rows.0.insert(key, vec![version]);
            }
        }
        Record::Remove(name, key) => {
            if let Some(table) = store.find(&name).ok().and_then(|id| store.tables.get_mut(&id)) {
                table.rows.0.remove(&key);
            }
        }
    }
}

pub(crate) fn checkpoint(store: &Store) -> Bytes {
    let mut records: Vec<Record> = store.databases.iter().cloned().map(Record::Database).collect();
    for table in store.tables.values() {
        records.push(Record::Table(table.definition.as_ref().clone()));
        let name = &table.definition.name;
        let live = table.rows.0.values().filter_map(|versions| versions.last()?.values.as_ref());
        records.extend(live.map(|values| Record::Put(name.clone(), values.to_vec())));
    }
    group(&records)
}
