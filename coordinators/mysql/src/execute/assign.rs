//! Converts values to column types, with the errors of strict mode.

use crate::error::{Outcome, SqlError};
use crate::sql::table_ast::Kind;
use crate::store::schema::{Column, Definition};
use crate::timestamp::{Instant, ParseError, read};
use crate::value::Value;

const TIMESTAMPS: std::ops::Range<i64> = 1_000_000..2_147_483_648_000_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Slot<'d> {
    pub(super) definition: &'d Definition,
    pub(super) place: usize,
    pub(super) row: usize,
    pub(super) now: Instant,
}

impl Slot<'_> {
    fn column(&self) -> &Column {
        &self.definition.columns[self.place]
    }

    pub(super) fn assign(&self, value: Value) -> Outcome<Value> {
        let column = self.column();
        match (value, column.kind) {
            (Value::Null, _) => self.null(),
            (Value::Integer(number), Kind::Integer { bytes, .. }) => self.integer(number, bytes),
            (Value::Text(text), Kind::Integer { bytes, .. }) => self.number(&text, bytes),
            (Value::Integer(number), Kind::Text { .. }) => self.text(number.to_string().into()),
            (Value::Text(text), Kind::Text { .. }) => self.text(text),
            (Value::Time(at), Kind::Text { .. }) => self.text(at.text().into()),
            (Value::Time(at), Kind::Time { .. }) => self.time(at, &at.text()),
            (Value::Text(text), Kind::Time { .. }) => {
                let text = String::from_utf8_lossy(&text).into_owned();
                match read(&text) {
                    Ok(at) => self.time(at, &text),
                    Err(ParseError::Value) => Err(self.incorrect("datetime", &text, 1292)),
                    Err(ParseError::Form) => Err(SqlError::unsupported("this form of a time")),
                }
            }
            _ => Err(SqlError::unsupported("a value of this type for this column")),
        }
    }

    fn null(&self) -> Outcome<Value> {
        let column = self.column();
        match column.kind {
            _ if column.is_nullable => Ok(Value::Null),
            Kind::Time { places, is_timestamp: true } => Ok(Value::Time(self.now.cut(places))),
            _ => {
                let message = format!("Column '{}' cannot be null", column.name);
                Err(SqlError::new(1048, "23000", message))
            }
        }
    }

    fn integer(&self, number: i128, bytes: u8) -> Outcome<Value> {
        let most = 1_i128 << (8 * u32::from(bytes) - 1);
        if (-most..most).contains(&number) {
            return Ok(Value::Integer(number));
        }
        let (column, row) = (&self.column().name, self.row);
        let message = format!("Out of range value for column '{column}' at row {row}");
        Err(SqlError::new(1264, "22003", message))
    }

    fn number(&self, text: &[u8], bytes: u8) -> Outcome<Value> {
        let text = String::from_utf8_lossy(text).into_owned();
        match text.parse::<i128>() {
            Ok(number) if text.len() < 20 => self.integer(number, bytes),
            _ if text.bytes().any(|byte| byte.is_ascii_digit()) || text.is_empty() => {
                Err(SqlError::unsupported("a number in this string"))
            }
            _ => Err(self.incorrect("integer", &text, 1366)),
        }
    }

    fn incorrect(&self, what: &str, text: &str, code: u16) -> SqlError {
        let (database, table) = &self.definition.name;
        let column = format!("`{database}`.`{table}`.`{}`", self.column().name);
        let message =
            format!("Incorrect {what} value: '{text}' for column {column} at row {}", self.row);
        SqlError::new(code, "22007", message)
    }

    fn text(&self, mut text: Vec<u8>) -> Outcome<Value> {
        let Kind::Text { characters, is_char } = self.column().kind else {
            return Ok(Value::Null);
        };
        let Ok(valid) = std::str::from_utf8(&text) else {
            return Err(SqlError::unsupported("a string that is not valid UTF-8"));
        };
        if is_char {
            let end = valid.trim_end_matches(' ').len();
            text.truncate(end);
        }
        let valid = String::from_utf8_lossy(&text);
        match valid.char_indices().nth(characters as usize) {
            None => Ok(Value::Text(text)),
            Some((end, _)) if valid[end..].trim_matches(' ').is_empty() => {
                Err(SqlError::unsupported("trailing spaces that do not fit"))
            }
            Some(_) => {
                let (column, row) = (&self.column().name, self.row);
                let message = format!("Data too long for column '{column}' at row {row}");
                Err(SqlError::new(1406, "22001", message))
            }
        }
    }

    fn time(&self, at: Instant, shown: &str) -> Outcome<Value> {
        match self.column().kind {
            Kind::Time { is_timestamp: true, .. } if !TIMESTAMPS.contains(&at.micros) => {
                Err(self.incorrect("datetime", shown, 1292))
            }
            Kind::Time { places, .. } => Ok(Value::Time(at.cut(places))),
            _ => Ok(Value::Null),
        }
    }
}
