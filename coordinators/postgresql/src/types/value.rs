use super::interval::Interval;
use super::timestamp::{self, ParseError};
use super::{TIME_MAX, TIME_MIN, Type};
use crate::error::{Outcome, SqlError};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Value {
    Null,
    Boolean(bool),
    Integer(i64),
    Decimal(String),
    Text(String),
    /// Microseconds since the Unix epoch.
    Time(i64),
    Interval(Interval),
    Void,
}

/// The epoch of the binary form, 2000-01-01, in microseconds since the Unix epoch.
const EPOCH: i64 = 946_684_800_000_000;

fn invalid(kind: Type, text: &str) -> SqlError {
    let (code, name) = match kind {
        Type::Timestamp => ("22007", "timestamp".to_owned()),
        Type::Timestamptz | Type::Interval => ("22007", kind.to_string()),
        other => ("22P02", other.to_string()),
    };
    SqlError::new(code, format!("invalid input syntax for type {name}: \"{text}\""))
}

fn out_of_range(kind: Type, text: &str) -> SqlError {
    SqlError::new("22003", format!("value \"{text}\" is out of range for type {kind}"))
}

fn bounds(kind: Type) -> std::ops::RangeInclusive<i64> {
    match kind {
        Type::Int2 => i64::from(i16::MIN)..=i64::from(i16::MAX),
        Type::Int4 => i64::from(i32::MIN)..=i64::from(i32::MAX),
        _ => i64::MIN..=i64::MAX,
    }
}

impl Value {
    pub(crate) fn is_null(&self) -> bool {
        *self == Value::Null
    }

    pub(crate) fn read(text: &str, kind: Type) -> Outcome<Value> {
        let wrong = |why| match why {
            ParseError::Syntax => invalid(kind, text),
            ParseError::Range if kind == Type::Interval => {
                SqlError::new("22015", format!("interval field value out of range: \"{text}\""))
            }
            ParseError::Range => {
                SqlError::new("22008", format!("date/time field value out of range: \"{text}\""))
            }
        };
        match kind {
            Type::Boolean => boolean(text).ok_or_else(|| invalid(kind, text)),
            Type::Int2 | Type::Int4 | Type::Int8 => integer(text, kind),
            Type::Numeric | Type::Float8 => {
                let trimmed = text.trim();
                let is_number = trimmed.parse::<f64>().is_ok_and(f64::is_finite);
                if is_number {
                    Ok(Value::Decimal(trimmed.to_owned()))
                } else {
                    Err(invalid(kind, text))
                }
            }
            Type::Timestamp => timestamp::read(text, false).map(Value::Time).map_err(wrong),
            Type::Timestamptz => timestamp::read(text, true).map(Value::Time).map_err(wrong),
            Type::Interval if text.trim_start().starts_with(['P', 'p']) => {
                Err(SqlError::unsupported("an interval in ISO 8601 format"))
            }
            Type::Interval => Interval::read(text).map(Value::Interval).map_err(wrong),
            Type::Void => Ok(Value::Void),
            Type::Varchar(_) | Type::Bpchar(_) => Value::Text(text.to_owned()).fitted(kind, false),
            Type::Text | Type::Name | Type::Unknown => Ok(Value::Text(text.to_owned())),
        }
    }

    /// Fits a text value to the length of the given type. Pads a `char(n)`. Drops excess spaces; a
    /// cast drops all excess characters.
    pub(crate) fn fitted(self, kind: Type, is_cast: bool) -> Outcome<Value> {
        let (length, pads) = match kind {
            Type::Varchar(Some(length)) => (length as usize, false),
            Type::Bpchar(length @ 1..) => (length as usize, true),
            _ => return Ok(self),
        };
        let Value::Text(text) = self else { return Ok(self) };
        let count = text.chars().count();
        if count > length {
            let rest_is_blank = text.chars().skip(length).all(|c| c == ' ');
            if !rest_is_blank && !is_cast {
                let message = format!("value too long for type {}", kind.full_name());
                return Err(SqlError::new("22001", message));
            }
            return Ok(Value::Text(text.chars().take(length).collect()));
        }
        let blanks = if pads { length - count } else { 0 };
        Ok(Value::Text(text + &" ".repeat(blanks)))
    }

    pub(crate) fn narrowed(value: i64, kind: Type) -> Outcome<Value> {
        if bounds(kind).contains(&value) {
            return Ok(Value::Integer(value));
        }
        Err(SqlError::new("22003", format!("{kind} out of range")))
    }

    pub(crate) fn read_binary(bytes: &[u8], kind: Type, number: usize) -> Outcome<Value> {
        let wrong = || {
            let message = format!("incorrect binary data format in bind parameter {number}");
            SqlError::new("22P03", message)
        };
        let short = || SqlError::new("08P01", "insufficient data left in message");
        let long = |length: usize| {
            if bytes.len() < length {
                Err(short())
            } else if bytes.len() > length {
                Err(wrong())
            } else {
                Ok(())
            }
        };
        match kind {
            Type::Boolean => {
                long(1)?;
                Ok(Value::Boolean(bytes[0] != 0))
            }
            Type::Int2 | Type::Int4 | Type::Int8 => {
                long(kind.size() as usize)?;
                Ok(Value::Integer(big_endian(bytes)))
            }
            Type::Timestamp | Type::Timestamptz => {
                long(8)?;
                Ok(Value::Time(match big_endian(bytes) {
                    i64::MAX => TIME_MAX,
                    i64::MIN => TIME_MIN,
                    at => at.saturating_add(EPOCH),
                }))
            }
            Type::Interval => {
                long(16)?;
                let (micros, days) = (big_endian(&bytes[..8]), big_endian(&bytes[8..12]));
                Ok(Value::Interval(Interval { months: big_endian(&bytes[12..]), days, micros }))
            }
            Type::Numeric | Type::Float8 => {
                Err(SqlError::unsupported(format!("the binary form of {kind}")))
            }
            _ => {
                let text = crate::text::utf8(bytes)?;
                Value::read(text, kind)
            }
        }
    }

    pub(crate) fn text(&self, kind: Type) -> Option<String> {
        Some(match self {
            Value::Null => return None,
            Value::Boolean(value) => if *value { "t" } else { "f" }.to_owned(),
            Value::Integer(number) => number.to_string(),
            Value::Decimal(text) | Value::Text(text) => text.clone(),
            Value::Time(at) => {
                let is_finite = *at != TIME_MAX && *at != TIME_MIN;
                let zone = if kind == Type::Timestamptz && is_finite { "+00" } else { "" };
                timestamp::text(*at) + zone
            }
            Value::Interval(interval) => interval.text(),
            Value::Void => String::new(),
        })
    }

    pub(crate) fn binary(&self, kind: Type) -> Outcome<Option<Vec<u8>>> {
        Ok(Some(match self {
            Value::Null => return Ok(None),
            Value::Boolean(value) => vec![u8::from(*value)],
            Value::Integer(number) => {
                let bytes = number.to_be_bytes();
                bytes[8 - kind.size().clamp(1, 8) as usize..].to_vec()
            }
            Value::Time(TIME_MAX) => i64::MAX.to_be_bytes().to_vec(),
            Value::Time(TIME_MIN) => i64::MIN.to_be_bytes().to_vec(),
            Value::Time(at) => at.saturating_sub(EPOCH).to_be_bytes().to_vec(),
            Value::Interval(interval) => {
                let (days, months) = (interval.days as i32, interval.months as i32);
                [&interval.micros.to_be_bytes()[..], &days.to_be_bytes(), &months.to_be_bytes()]
                    .concat()
            }
            Value::Text(text) => text.clone().into_bytes(),
            Value::Void => Vec::new(),
            Value::Decimal(_) => {
                return Err(SqlError::unsupported(format!("the binary form of {kind}")));
            }
        }))
    }
}

fn big_endian(bytes: &[u8]) -> i64 {
    let filler = if bytes.first().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(filler, |number, byte| (number << 8) | i64::from(*byte))
}

fn boolean(text: &str) -> Option<Value> {
    let text = text.trim().to_ascii_lowercase();
    let starts = |word: &str, least: usize| text.len() >= least && word.starts_with(&text);
    let is_true = starts("true", 1) || starts("yes", 1) || text == "on" || text == "1";
    let is_false = starts("false", 1) || starts("no", 1) || starts("off", 2) || text == "0";
    (is_true || is_false).then_some(Value::Boolean(is_true))
}

fn integer(text: &str, kind: Type) -> Outcome<Value> {
    let trimmed = text.trim_matches(|c: char| c.is_ascii_whitespace());
    let digits = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(invalid(kind, text));
    }
    match trimmed.parse() {
        Ok(number) if bounds(kind).contains(&number) => Ok(Value::Integer(number)),
        _ => Err(out_of_range(kind, text)),
    }
}

/// Compares two values as `ORDER BY` does: NULL is last, and strings are compared byte by byte.
pub(crate) fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Null, Value::Null) => Ordering::Equal,
        (Value::Null, _) => Ordering::Greater,
        (_, Value::Null) => Ordering::Less,
        (Value::Boolean(left), Value::Boolean(right)) => left.cmp(right),
        (Value::Integer(left), Value::Integer(right)) => left.cmp(right),
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        (Value::Time(left), Value::Time(right)) => left.cmp(right),
        (Value::Interval(left), Value::Interval(right)) => left.measure().cmp(&right.measure()),
        _ => Ordering::Equal,
    }
}
