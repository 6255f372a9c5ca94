//! What a table is: its columns, and which of them name a row.

use super::TableName;
use super::key::{Key, Part};
use crate::error::{Outcome, SqlError};
use crate::sql::expression::Expression;
use crate::sql::table_ast::Kind;
use crate::value::Value;

/// A table without its rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Definition {
    pub(crate) name: TableName,
    pub(crate) columns: Vec<Column>,
    /// The places of the columns of the primary key.
    pub(crate) key: Vec<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) is_nullable: bool,
    /// `None` if it has none: then a value must be told, unless it can be NULL.
    pub(crate) default: Option<Default>,
}

/// The value of a column that is not told.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Default {
    Value(Value),
    /// The time of the statement.
    Now,
}

impl Column {
    /// As an expression; `None` if there is no default.
    pub(crate) fn default_expression(&self) -> Option<Expression> {
        match &self.default {
            Some(Default::Value(value)) => Some(Expression::Literal(value.clone())),
            Some(Default::Now) => Some(Expression::Now(6, false)),
            None if self.is_nullable => Some(Expression::Literal(Value::Null)),
            None => None,
        }
    }
}

impl Definition {
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// The key of a row. Errors: 1235 for texts whose order the model does not know.
    pub(crate) fn key_of(&self, values: &[Value]) -> Outcome<Key> {
        self.key.iter().map(|place| part(&values[*place])).collect()
    }
}

/// A value as a part of a key, by which it is compared.
pub(crate) fn part(value: &Value) -> Outcome<Part> {
    match value {
        Value::Integer(number) => Ok(Part::Number(*number)),
        Value::Time(at) => Ok(Part::Number(i128::from(at.micros))),
        Value::Text(text) => folded(text).map(Part::Text),
        Value::Null | Value::Decimal(_) => Err(SqlError::unsupported("such a key")),
    }
}

/// A text as `utf8mb4_general_ci` compares it: without regard to large and small letters, and
/// without blanks at its end. Errors: 1235 for letters beyond ASCII.
pub(crate) fn folded(text: &[u8]) -> Outcome<Vec<u8>> {
    if text.iter().any(|byte| !matches!(byte, b' '..=b'~')) {
        return Err(SqlError::unsupported("comparing letters beyond ASCII"));
    }
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    Ok(text[..end].to_ascii_uppercase())
}
