//! Row versions, transactions and row locks, as in InnoDB.

pub(crate) mod key;
pub(crate) mod locks;
pub(crate) mod log;
pub(crate) mod rows;
pub(crate) mod schema;
pub(crate) mod transaction;
pub(crate) mod xid;

use crate::error::{Outcome, SqlError};
use crate::locks::SessionId;
use key::Key;
use locks::{Intents, RowLocks};
use log::Record;
use rows::Rows;
use schema::Definition;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;
use transaction::Transaction;
use xid::Xid;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct TableId(pub(crate) u32);

pub(crate) type TableName = (String, String);

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) definition: Rc<Definition>,
    pub(crate) rows: Rows,
}

#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) databases: BTreeSet<String>,
    names: BTreeMap<TableName, TableId>,
    pub(crate) tables: BTreeMap<TableId, Table>,
    next_table: u32,
    pub(crate) transactions: BTreeMap<SessionId, Transaction>,
    pub(crate) active: BTreeMap<Xid, SessionId>,
    next_transaction: u64,
    pub(crate) locks: RowLocks,
    pub(crate) intents: Intents,
    history: Vec<(TableId, Key)>,
    pub(crate) woken: VecDeque<SessionId>,
    pub(crate) victims: VecDeque<SessionId>,
    pub(crate) unlogged: Vec<Record>,
}

impl Store {
    pub(crate) fn find(&self, name: &TableName) -> Outcome<TableId> {
        self.names.get(name).copied().ok_or_else(|| {
            let message = format!("Table '{}.{}' doesn't exist", name.0, name.1);
            SqlError::new(1146, "42S02", message)
        })
    }

    pub(crate) fn has(&self, name: &TableName) -> bool {
        self.names.contains_key(name)
    }

    pub(crate) fn create_database(&mut self, name: &str) {
        self.databases.insert(name.to_owned());
        self.unlogged.push(Record::Database(name.to_owned()));
    }

    pub(crate) fn create_table(&mut self, definition: Definition) {
        self.unlogged.push(Record::Table(definition.clone()));
        let id = TableId(self.next_table);
        self.next_table += 1;
        self.names.insert(definition.name.clone(), id);
        let definition = Rc::new(definition);
        self.tables.insert(id, Table { definition, rows: Rows::default() });
    }

    pub(crate) fn drop_table(&mut self, name: &TableName) {
        let Some(id) = self.names.remove(name) else { return };
        self.tables.remove(&id);
        self.history.retain(|(table, _)| *table != id);
        self.unlogged.push(Record::Drop(name.clone()));
    }

    pub(crate) fn is_used(&self, table: TableId, but: SessionId) -> bool {
        let mut others = self.transactions.iter().filter(|(session, _)| **session != but);
        others.any(|(_, transaction)| transaction.tables.contains(&table))
    }

    pub(crate) fn locked_rows(&self, prefix: &str) -> BTreeMap<String, SessionId> {
        let mut found = BTreeMap::new();
        for (table, key, by) in self.locks.exclusive() {
            let Some(table) = self.tables.get(&table) else { continue };
            let name = table.definition.name_of_row(table.rows.newest(key), key);
            if name.starts_with(prefix) {
                found.entry(name).or_insert(by);
            }
        }
        found
    }
}
