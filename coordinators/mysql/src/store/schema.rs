use super::TableName;
use super::key::{Key, Part};
use super::rows::{Values, Version};
use crate::error::{Outcome, SqlError};
use crate::sql::expression::Expression;
use crate::sql::table_ast::Kind;
use crate::value::Value;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Definition {
    pub(crate) name: TableName,
    pub(crate) columns: Vec<Column>,
    pub(crate) key: Vec<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) is_nullable: bool,
    pub(crate) default: Option<Default>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Default {
    Value(Value),
    Now,
}

impl Definition {
    /// Returns the lock name of a row: `table/key`, or only the key if the table is named `locks`.
    pub(crate) fn name_of_row(&self, row: Option<&Version>, key: &Key) -> String {
        let of_row =
            |values: &Values| self.key.iter().filter_map(|at| values[*at].text()).collect();
        let of_key = |part: &Part| match part {
            Part::Number(number) => number.to_string().into_bytes(),
            Part::Text(text) => text.clone(),
        };
        let parts: Vec<Vec<u8>> = row
            .and_then(|row| row.values.as_ref())
            .map_or_else(|| key.iter().map(of_key).collect(), of_row);
        let key = String::from_utf8_lossy(&parts.join(&b","[..])).into_owned();
        match self.name.1.as_str() {
            "locks" => key,
            table => format!("{table}/{key}"),
        }
    }
}

impl Column {
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

    pub(crate) fn key_of(&self, values: &[Value]) -> Outcome<Key> {
        self.key.iter().map(|place| part(&values[*place])).collect()
    }
}

pub(crate) fn part(value: &Value) -> Outcome<Part> {
    match value {
        Value::Integer(number) => Ok(Part::Number(*number)),
        Value::Time(at) => Ok(Part::Number(i128::from(at.micros))),
        Value::Text(text) => folded(text).map(Part::Text),
        Value::Null | Value::Decimal(_) => Err(SqlError::unsupported("a key value of this type")),
    }
}

/// Folds a string as `utf8mb4_general_ci` does. Refuses text that is not printable ASCII.
pub(crate) fn folded(text: &[u8]) -> Outcome<Vec<u8>> {
    if text.iter().any(|byte| !matches!(byte, b' '..=b'~')) {
        return Err(SqlError::unsupported("comparing non-ASCII text"));
    }
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    Ok(text[..end].to_ascii_uppercase())
}
