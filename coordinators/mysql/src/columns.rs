//! Column definitions of a result, derived from the types of its expressions.

use crate::error::{Outcome, SqlError};
use crate::packet::put_text;
use crate::session::Session;
use crate::sql::expression::{Comparison, Expression, Function};
use crate::sql::table_ast::Kind;
use crate::store::schema::{Column, Default, Definition};
use crate::value::Value;
use crate::variables::Setting;
use bytes::BufMut;

const TINY: u8 = 1;
const LONG: u8 = 3;
const NULL: u8 = 6;
const TIMESTAMP: u8 = 7;
const LONGLONG: u8 = 8;
const DATETIME: u8 = 12;
const NEWDECIMAL: u8 = 0xf6;
const VAR_STRING: u8 = 0xfd;
const STRING: u8 = 0xfe;

const NOT_NULL: u16 = 1;
const PRIMARY: u16 = 2;
const UNSIGNED: u16 = 32;
const BINARY: u16 = 128;
const DEFAULT_NOW: u16 = 1_024;
const NO_DEFAULT: u16 = 4_096;
const PART: u16 = 16_384;
const NO_CHARSET: u16 = 63;
const NO_PLACES: u8 = 39;
const NAME_MAX: usize = 255;
/// A computed integer of at most this many characters has the type INT.
const LONG_MAX: u32 = 9;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    kind: u8,
    name: &'static str,
    characters: u32,
    places: u8,
    is_unsigned: bool,
    is_nullable: bool,
    flags: Option<u16>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Origin {
    database: String,
    called: String,
    table: String,
    column: String,
}

impl Shape {
    fn number(name: &'static str, characters: u32) -> Shape {
        let kind = if characters > LONG_MAX && name.starts_with("big") { LONGLONG } else { LONG };
        let (is_unsigned, is_nullable) = (name.ends_with("unsigned"), true);
        Shape { kind, name, characters, places: 0, is_unsigned, is_nullable, flags: None }
    }

    fn text(characters: usize) -> Shape {
        Shape {
            kind: VAR_STRING,
            name: "varchar",
            characters: characters as u32,
            places: NO_PLACES,
            is_unsigned: false,
            is_nullable: true,
            flags: None,
        }
    }

    fn time(kind: u8, places: u8) -> Shape {
        let characters = 19 + u32::from(places) + u32::from(places > 0);
        Shape { kind, places, characters, ..Shape::number("datetime", 0) }
    }

    fn never_null(self) -> Shape {
        Shape { is_nullable: false, ..self }
    }

    fn is_text(self) -> bool {
        matches!(self.kind, VAR_STRING | STRING)
    }

    pub(crate) fn column(self, name: &[u8], session: &Session) -> Vec<u8> {
        self.column_of(name, None, session)
    }

    pub(crate) fn column_of(
        self,
        name: &[u8],
        origin: Option<&Origin>,
        session: &Session,
    ) -> Vec<u8> {
        let mut body = Vec::new();
        put_text(&mut body, b"def");
        let told =
            |text: fn(&Origin) -> &String| origin.map_or(&b""[..], |one| text(one).as_bytes());
        put_text(&mut body, told(|one| &one.database));
        put_text(&mut body, told(|one| &one.called));
        put_text(&mut body, told(|one| &one.table));
        put_text(&mut body, short(name));
        put_text(&mut body, told(|one| &one.column));
        body.put_u8(12);
        let charset = session.charset;
        let (number, length, flags) = match self.is_text() {
            true => (charset.number, self.characters.saturating_mul(charset.longest), 0),
            false => (NO_CHARSET, self.characters, BINARY),
        };
        body.put_u16_le(number);
        body.put_u32_le(length);
        body.put_u8(self.kind);
        let nullable = if self.is_nullable { 0 } else { NOT_NULL };
        let unsigned = if self.is_unsigned { UNSIGNED } else { 0 };
        body.put_u16_le(self.flags.unwrap_or(flags | nullable | unsigned));
        body.put_u8(self.places);
        body.put_u16_le(0);
        body
    }

    pub(crate) fn of_warnings() -> [(&'static str, Shape); 3] {
        let code = Shape { characters: 4, ..Shape::number("int unsigned", 4) };
        [
            ("Level", Shape::text(7).never_null()),
            ("Code", code.never_null()),
            ("Message", Shape::text(512).never_null()),
        ]
    }
}

fn short(name: &[u8]) -> &[u8] {
    let valid = name.utf8_chunks().next().map_or("", |part| part.valid());
    match valid.char_indices().nth(NAME_MAX) {
        Some((end, _)) => &valid.as_bytes()[..end],
        None => valid.as_bytes(),
    }
}

pub(crate) fn shape(expression: &Expression, session: &Session) -> Outcome<Shape> {
    Ok(match expression {
        Expression::Literal(value) => literal(value, session),
        Expression::Truth(_) => Shape::number("boolean", 5).never_null(),
        Expression::Variable(name, is_global) => {
            variable(&session.variables.get(name, *is_global)?, session)
        }
        Expression::Column(named, clause) => {
            if *clause == "VALUES" {
                return Err(SqlError::unsupported("VALUES outside an INSERT"));
            }
            let message = format!("Unknown column '{}' in '{clause}'", named.shown());
            return Err(SqlError::new(1054, "42S22", message));
        }
        Expression::Now(places, _) => Shape::time(DATETIME, *places).never_null(),
        Expression::Later(from, count, unit) => {
            let (from, count) = (shape(from, session)?, shape(count, session)?);
            if from.kind != DATETIME || !matches!(count.kind, LONG | LONGLONG) {
                return Err(SqlError::unsupported("this expression as a time"));
            }
            Shape::time(DATETIME, if unit.abs() == 1 { 6 } else { from.places })
        }
        Expression::Call(function, arguments) => call(*function, arguments, session)?,
        Expression::Compare(comparison, left, right) => {
            let (left, right) = (shape(left, session)?, shape(right, session)?);
            if [left, right].iter().any(|side| !matches!(side.kind, LONG | LONGLONG | NULL)) {
                return Err(SqlError::unsupported("comparing values that are not integers"));
            }
            let is_nullable =
                *comparison != Comparison::Same && (left.is_nullable || right.is_nullable);
            Shape { is_nullable, ..Shape::number("boolean", 1) }
        }
        Expression::IsNull(inner, _) => {
            shape(inner, session)?;
            Shape::number("boolean", 1).never_null()
        }
        Expression::Not(inner) if is_truth(inner) => Shape::number("boolean", 5).never_null(),
        Expression::Not(inner) => {
            let inner = shape(inner, session)?;
            if !matches!(inner.kind, LONG | LONGLONG | NULL) {
                return Err(SqlError::unsupported("NOT of a value that is not an integer"));
            }
            Shape { is_nullable: inner.is_nullable, ..Shape::number("boolean", 1) }
        }
        _ => return Err(SqlError::unsupported("this expression in a query without a table")),
    })
}

pub(crate) fn of_table(
    expression: &Expression,
    definition: &Definition,
    called: &str,
    session: &Session,
) -> Outcome<(Shape, Option<Origin>)> {
    let nullable = |is_nullable| Shape { is_nullable, ..Shape::number("boolean", 1) };
    let is_nullable =
        |inner: &Expression| Ok(of_table(inner, definition, called, session)?.0.is_nullable);
    let shape = match expression {
        Expression::Field(place) => {
            let column = &definition.columns[*place];
            let (database, table) = definition.name.clone();
            let (called, name) = (called.to_owned(), column.name.clone());
            let origin = Origin { database, called, table, column: name };
            return Ok((of_column(column, definition.key.contains(place)), Some(origin)));
        }
        Expression::Count => {
            Shape { kind: LONGLONG, characters: 21, ..Shape::number("bigint", 21) }.never_null()
        }
        Expression::Compare(Comparison::Same, ..) | Expression::IsNull(..) => nullable(false),
        Expression::Compare(_, left, right) => nullable(is_nullable(left)? | is_nullable(right)?),
        Expression::And(parts) | Expression::Or(parts) => {
            let mut may_be = false;
            for part in parts.iter() {
                may_be |= is_nullable(part)?;
            }
            nullable(may_be)
        }
        Expression::In(one, others) => {
            let mut may_be = is_nullable(one)?;
            for other in others.iter() {
                may_be |= is_nullable(other)?;
            }
            nullable(may_be)
        }
        Expression::Not(inner) => nullable(is_nullable(inner)?),
        Expression::Literal(_) | Expression::Now(..) | Expression::Call(..) => {
            shape(expression, session)?
        }
        _ => return Err(SqlError::unsupported("this expression as a result column")),
    };
    Ok((shape, None))
}

fn of_column(column: &Column, is_key: bool) -> Shape {
    let shape = match column.kind {
        Kind::Integer { bytes, width } => {
            let kind = match bytes {
                1 => TINY,
                4 => LONG,
                _ => LONGLONG,
            };
            Shape { kind, flags: Some(0), ..Shape::number("int", width) }
        }
        Kind::Text { characters, is_char } => Shape {
            kind: if is_char { STRING } else { VAR_STRING },
            places: 0,
            flags: Some(0),
            ..Shape::text(characters as usize)
        },
        Kind::Time { places, is_timestamp: true } => {
            Shape { flags: Some(BINARY | UNSIGNED), ..Shape::time(TIMESTAMP, places) }
        }
        Kind::Time { places, is_timestamp: false } => {
            Shape { flags: Some(BINARY), ..Shape::time(DATETIME, places) }
        }
    };
    let mut flags = shape.flags.unwrap_or(0);
    if !column.is_nullable {
        flags |= NOT_NULL;
        if column.default.is_none() {
            flags |= NO_DEFAULT;
        }
    }
    if column.default == Some(Default::Now) && shape.kind == TIMESTAMP {
        flags |= DEFAULT_NOW;
    }
    if is_key {
        flags |= PRIMARY | PART;
    }
    Shape { is_nullable: column.is_nullable, flags: Some(flags), ..shape }
}

fn is_truth(expression: &Expression) -> bool {
    match expression {
        Expression::Truth(_) => true,
        Expression::Not(inner) => is_truth(inner),
        _ => false,
    }
}

fn literal(value: &Value, session: &Session) -> Shape {
    match value {
        Value::Null => Shape { kind: NULL, name: "null", ..Shape::number("null", 0) },
        Value::Integer(number) => {
            let length = number.to_string().len() as u32;
            let name = match length > LONG_MAX {
                true if *number > i128::from(i64::MAX) => "bigint unsigned",
                true => "bigint",
                false => "int",
            };
            Shape::number(name, length).never_null()
        }
        Value::Decimal(decimal) => Shape {
            kind: NEWDECIMAL,
            places: decimal.places,
            characters: decimal.digits + 1 + u32::from(decimal.places > 0),
            ..Shape::number("decimal", 0).never_null()
        },
        Value::Text(text) => Shape::text(session.charset.characters(text)).never_null(),
        Value::Time(at) => Shape::time(DATETIME, at.places).never_null(),
    }
}

fn variable(held: &Setting, session: &Session) -> Shape {
    match held {
        Setting::Truth(_) => Shape { kind: LONGLONG, ..Shape::number("bigint", 1) },
        Setting::Number(_) => Shape::number("bigint unsigned", 21),
        Setting::Text(text) => Shape::text(session.charset.characters(text.as_bytes())),
    }
}

fn call(function: Function, arguments: &[Expression], session: &Session) -> Outcome<Shape> {
    let shapes: Outcome<Vec<Shape>> = arguments.iter().map(|one| shape(one, session)).collect();
    let shapes = shapes?;
    if let (Some(operation), Some(name)) = (function.names_lock(), shapes.first())
        && !name.is_text()
        && name.kind != NULL
    {
        let kind = name.name;
        let message = format!("Illegal parameter data type {kind} for operation '{operation}'");
        return Err(SqlError::new(4079, "HY000", message));
    }
    Ok(match function {
        Function::GetLock | Function::ReleaseLock | Function::IsFreeLock => Shape::number("int", 1),
        Function::IsUsedLock => Shape::number("int", 10),
        Function::ReleaseAllLocks => Shape::number("int unsigned", 11).never_null(),
        Function::ConnectionId => Shape::number("int unsigned", 10).never_null(),
        Function::Version => Shape::text(crate::VERSION.len()).never_null(),
        Function::Database => Shape::text(64),
        Function::User => Shape::text(384),
        Function::Concat => Shape::text(shapes.iter().map(|one| one.characters as usize).sum()),
    })
}
