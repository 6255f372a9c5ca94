use super::{Execution, StatementResult, Stop};
use crate::bind::Binder;
use crate::error::{About, Outcome, Severity, SqlError};
use crate::span::Span;
use crate::sql::ast::{ColumnDefinition, CreateTable, Key, LockMode, Named};
use crate::store::locks::Tag;
use crate::store::table::{Column, Definition, Index};
use crate::store::transaction::Undo;
use crate::types::Type;
use std::collections::BTreeMap;
use std::rc::Rc;

impl Execution<'_> {
    fn notice(&mut self, code: &'static str, message: String) {
        self.session.notices.push(SqlError::of(Severity::Notice, code, message));
    }

    pub(super) fn create_table(&mut self, create: &CreateTable) -> Result<StatementResult, Stop> {
        self.refuse_read_only("CREATE TABLE")?;
        let name = &create.name.name;
        let own = self.session.xid();
        let is_there = self.core.heap.named(name, own).is_some() || self.has_index(name);
        if is_there && create.if_not_exists {
            self.notice("42P07", format!("relation \"{name}\" already exists, skipping"));
            return Ok(StatementResult { tag: "CREATE TABLE".to_owned() });
        }
        if is_there {
            if self.run.is_granted {
                return Err(type_exists(name).into());
            }
            let message = format!("relation \"{name}\" already exists");
            return Err(SqlError::new("42P07", message).into());
        }
        if let Some(creator) = self.core.heap.creator_of(name).filter(|xid| Some(*xid) != own) {
            self.own_xid();
            self.run.is_granted = true;
            return Err(self.await_end(creator));
        }
        let definition = self.defined(create)?;
        let (id, xid) = (definition.id, self.own_xid());
        self.core.heap.restore(Definition { creator: Some(xid), ..definition });
        let (backend, tag) = (self.session.backend, Tag::Table(id));
        self.core.locks.acquire(backend, tag, LockMode::AccessExclusive, Span::Transaction);
        if let Some(open) = &mut self.session.transaction {
            open.undo.push(Undo::Created(id));
        }
        Ok(StatementResult { tag: "CREATE TABLE".to_owned() })
    }

    fn has_index(&self, name: &str) -> bool {
        self.core.heap.index_named(name).is_some()
    }

    fn refuse_read_only(&self, word: &str) -> Outcome<()> {
        if self.session.transaction.as_ref().is_some_and(|open| open.read_only) {
            let message = format!("cannot execute {word} in a read-only transaction");
            return Err(SqlError::new("25006", message));
        }
        Ok(())
    }

    fn defined(&mut self, create: &CreateTable) -> Outcome<Definition> {
        let name = &create.name.name;
        let mut columns: Vec<Column> = Vec::new();
        for column in &create.columns {
            if columns.iter().any(|other| other.name == column.name) {
                let message = format!("column \"{}\" specified more than once", column.name);
                return Err(SqlError::new("42701", message));
            }
            columns.push(column_of(column)?);
        }
        if create.keys.iter().filter(|key| key.is_primary).count() > 1 {
            let message = format!("multiple primary keys for table \"{name}\" are not allowed");
            return Err(SqlError::new("42P16", message));
        }
        let mut indexes: Vec<Index> = Vec::new();
        let (primary, others): (Vec<&Key>, Vec<&Key>) =
            create.keys.iter().partition(|key| key.is_primary);
        for key in primary.into_iter().chain(others) {
            let at = key_columns(&columns, &key.columns)?;
            if key.is_primary {
                at.iter().for_each(|column| columns[*column].not_null = true);
            }
            let names: Vec<&str> = at.iter().map(|at| columns[*at].name.as_str()).collect();
            let given = key.name.clone().unwrap_or_else(|| match key.is_primary {
                true => format!("{name}_pkey"),
                false => format!("{name}_{}_key", names.join("_")),
            });
            if self.has_index(&given) || indexes.iter().any(|index| index.name == given) {
                let message = format!("relation \"{given}\" already exists");
                return Err(SqlError::new("42P07", message));
            }
            let is_primary = key.is_primary;
            indexes.push(Index { name: given, columns: at, is_primary });
        }
        let id = self.core.heap.next_table_id();
        let name = name.clone();
        let versions = BTreeMap::new();
        Ok(Definition { id, name, columns, indexes, creator: None, dropper: None, versions })
    }

    pub(super) fn drop_tables(
        &mut self,
        tables: &[Named],
        if_exists: bool,
    ) -> Result<StatementResult, Stop> {
        self.refuse_read_only("DROP TABLE")?;
        for named in tables {
            let own = self.session.xid();
            if self.core.heap.named(&named.name, own).is_none() {
                let name = &named.name;
                if if_exists {
                    self.notice("00000", format!("table \"{name}\" does not exist, skipping"));
                    continue;
                }
                let message = format!("table \"{name}\" does not exist");
                return Err(SqlError::new("42P01", message).into());
            }
            let table = self.lock_table(named, LockMode::AccessExclusive)?;
            let xid = self.own_xid();
            if let Some(definition) = self.core.heap.get_mut(table) {
                definition.dropper = Some(xid);
            }
            if let Some(open) = &mut self.session.transaction {
                open.undo.push(Undo::Dropped(table));
            }
        }
        Ok(StatementResult { tag: "DROP TABLE".to_owned() })
    }
}

fn type_exists(name: &str) -> SqlError {
    let constraint = "pg_type_typname_nsp_index";
    let message = format!("duplicate key value violates unique constraint \"{constraint}\"");
    let detail = format!("Key (typname, typnamespace)=({name}, 2200) already exists.");
    let about = About {
        table: Some("pg_type".to_owned()),
        column: None,
        constraint: Some(constraint.to_owned()),
    };
    SqlError::new("23505", message).detail(detail).about(about)
}

pub(crate) fn column_of(column: &ColumnDefinition) -> Outcome<Column> {
    let mut made = Column {
        name: column.name.clone(),
        kind: column.kind,
        not_null: column.not_null,
        default: None,
        default_text: None,
    };
    if matches!(column.kind, Type::Numeric | Type::Float8) {
        return Err(SqlError::unsupported(format!("a column of type {}", column.kind)));
    }
    if let Some((expression, text)) = &column.default {
        let bound = Binder::new(None, None, Vec::new()).stored(expression, &made)?;
        made.default = Some(Rc::new(bound));
        made.default_text = Some(text.clone());
    }
    Ok(made)
}

fn key_columns(columns: &[Column], named: &[Named]) -> Outcome<Vec<usize>> {
    let mut found = Vec::new();
    for column in named {
        let name = &column.name;
        let index = columns.iter().position(|own| own.name == *name).ok_or_else(|| {
            let message = format!("column \"{name}\" named in key does not exist");
            SqlError::new("42703", message).at(column.position)
        })?;
        found.push(index);
    }
    Ok(found)
}
