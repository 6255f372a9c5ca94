//! What the server holds besides user locks: databases, tables with the versions of their rows,
//! transactions, and the locks of rows, as InnoDB has them.
//!
//! A statement finds its table here (`schema`), asks for the locks that its isolation level wants
//! (`locks`), reads the newest version of a row or the one that its view sees (`rows`), and adds a
//! version, which its transaction takes back or commits (`transaction`). What was committed goes to
//! the log (`log`), from which a server that starts again has its tables.

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

/// Names a table for as long as the server runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct TableId(pub(crate) u32);

/// A table by its database and its name.
pub(crate) type TableName = (String, String);

/// A table and its rows.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) definition: Rc<Definition>,
    pub(crate) rows: Rows,
}

/// All that the server holds.
#[derive(Debug, Default)]
pub(crate) struct Store {
    /// Those that somebody has made.
    pub(crate) databases: BTreeSet<String>,
    names: BTreeMap<TableName, TableId>,
    pub(crate) tables: BTreeMap<TableId, Table>,
    next_table: u32,
    pub(crate) transactions: BTreeMap<SessionId, Transaction>,
    /// Who has begun which transaction, of those that are not over.
    pub(crate) active: BTreeMap<Xid, SessionId>,
    next_transaction: u64,
    pub(crate) locks: RowLocks,
    pub(crate) intents: Intents,
    /// Rows that have a version too many.
    history: Vec<(TableId, Key)>,
    /// Who got what it waited for, and has not been told yet.
    pub(crate) woken: VecDeque<SessionId>,
    /// Who is refused because others would wait for each other, and has not been told yet.
    pub(crate) victims: VecDeque<SessionId>,
    /// What was committed and is not in the log yet.
    pub(crate) unlogged: Vec<Record>,
}

impl Store {
    /// A table by its name. Errors: 1146.
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

    /// Whether a transaction of somebody else has looked at the table.
    pub(crate) fn is_used(&self, table: TableId, but: SessionId) -> bool {
        let mut others = self.transactions.iter().filter(|(session, _)| **session != but);
        others.any(|(_, transaction)| transaction.tables.contains(&table))
    }

    /// Who has locked the row of a table whose key is that text, against all others.
    pub(crate) fn holder(&self, name: &str, key: &str) -> Option<SessionId> {
        let table = self.names.iter().find(|((_, table), _)| table == name)?.1;
        let row = rows::text_key(key)?;
        self.locks.holder(*table, &row)
    }
}
