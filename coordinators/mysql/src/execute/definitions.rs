use super::assign::Slot;
use super::{Context, whole};
use crate::error::{Outcome, SqlError};
use crate::sql::expression::Expression;
use crate::sql::table_ast::{ColumnSpec, CreateTable, TableStatement};
use crate::store::TableName;
use crate::store::schema::{Column, Default, Definition};
use crate::timestamp::Instant;

pub(crate) fn is_definition(statement: &TableStatement) -> bool {
    matches!(
        statement,
        TableStatement::CreateDatabase { .. }
            | TableStatement::CreateTable(_)
            | TableStatement::DropTable { .. }
    )
}

pub(super) fn define(statement: &TableStatement, context: &mut Context<'_>) -> Outcome<usize> {
    match statement {
        TableStatement::CreateDatabase { name, if_missing } => {
            create_database(name, *if_missing, context)
        }
        TableStatement::CreateTable(made) => create_table(made, context).map(|()| 0),
        TableStatement::DropTable { table, if_there } => {
            let name = whole(table, context.session)?;
            drop_table(&name, *if_there, context).map(|()| 0)
        }
        _ => Ok(0),
    }
}

fn create_database(name: &str, if_missing: bool, context: &mut Context<'_>) -> Outcome<usize> {
    if context.session.knows(name, context.store) {
        let message = format!("Can't create database '{name}'; database exists");
        let error = SqlError::new(1007, "HY000", message);
        return context.session.note(error, if_missing).map(|()| 0);
    }
    context.store.create_database(name);
    Ok(1)
}

fn create_table(made: &CreateTable, context: &mut Context<'_>) -> Outcome<()> {
    let name = whole(&made.table, context.session)?;
    if !context.session.knows(&name.0, context.store) {
        return Err(SqlError::unknown_database(&name.0));
    }
    if !context.store.databases.contains(&name.0) {
        return Err(SqlError::unsupported("a table in a system database"));
    }
    if context.store.has(&name) {
        let error = SqlError::new(1050, "42S01", format!("Table '{}' already exists", name.1));
        return context.session.note(error, made.if_missing);
    }
    let definition = definition(name, made)?;
    if let Some(name) = &made.ignored_name {
        context.session.warn(1280, format!("Name '{name}' ignored for PRIMARY key."));
    }
    context.store.create_table(definition);
    Ok(())
}

fn definition(name: TableName, made: &CreateTable) -> Outcome<Definition> {
    for (at, column) in made.columns.iter().enumerate() {
        if made.columns[..at].iter().any(|one| one.name.eq_ignore_ascii_case(&column.name)) {
            let message = format!("Duplicate column name '{}'", column.name);
            return Err(SqlError::new(1060, "42S21", message));
        }
    }
    let own = made.columns.iter().filter(|column| column.is_key);
    let keys: Vec<Vec<String>> =
        own.map(|column| vec![column.name.clone()]).chain(made.keys.clone()).collect();
    let [names] = &keys[..] else {
        return Err(match keys.is_empty() {
            true => SqlError::unsupported("a table without a primary key"),
            false => SqlError::new(1068, "42000", "Multiple primary key defined"),
        });
    };
    let mut key = Vec::new();
    for name in names {
        let is_it = |column: &ColumnSpec| column.name.eq_ignore_ascii_case(name);
        let place = made.columns.iter().position(is_it).ok_or_else(|| {
            let message = format!("Key column '{name}' doesn't exist in table");
            SqlError::new(1072, "42000", message)
        })?;
        if key.contains(&place) {
            return Err(SqlError::new(1060, "42S21", format!("Duplicate column name '{name}'")));
        }
        key.push(place);
    }
    let specs = made.columns.iter().enumerate();
    let columns = specs.map(|(place, spec)| column(spec, key.contains(&place))).collect();
    let mut definition = Definition { name, columns, key };
    for (place, spec) in made.columns.iter().enumerate() {
        definition.columns[place].default = default(&definition, place, spec)?;
    }
    Ok(definition)
}

fn column(spec: &ColumnSpec, is_key: bool) -> Column {
    let is_nullable = spec.nullable.unwrap_or(true) && !is_key;
    Column { name: spec.name.clone(), kind: spec.kind, is_nullable, default: None }
}

fn default(definition: &Definition, place: usize, spec: &ColumnSpec) -> Outcome<Option<Default>> {
    let now = Instant { micros: 0, places: 6 };
    match &spec.default {
        None => Ok(None),
        Some(Expression::Now(..)) => match spec.kind {
            crate::sql::table_ast::Kind::Time { .. } => Ok(Some(Default::Now)),
            _ => Err(SqlError::unsupported("this default value")),
        },
        Some(Expression::Literal(value)) => {
            let slot = Slot { definition, place, row: 1, now };
            let value = slot.assign(value.clone());
            let value = value.map_err(|_| SqlError::unsupported("this default value"))?;
            Ok(Some(Default::Value(value)))
        }
        Some(_) => Err(SqlError::unsupported("this default value")),
    }
}

fn drop_table(name: &TableName, if_there: bool, context: &mut Context<'_>) -> Outcome<()> {
    let Ok(id) = context.store.find(name) else {
        let error = SqlError::new(1051, "42S02", format!("Unknown table '{}.{}'", name.0, name.1));
        return context.session.note(error, if_there);
    };
    if context.store.is_used(id, context.session.id) {
        return Err(SqlError::unsupported("DROP TABLE on a table in use"));
    }
    context.store.drop_table(name);
    Ok(())
}
