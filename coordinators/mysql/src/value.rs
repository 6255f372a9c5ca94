//! Values: what expressions come to, and how they are sent.

use crate::number::Decimal;
use crate::timestamp::Instant;

/// One value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Value {
    Null,
    /// A number of 64 bits, with or without a sign.
    Integer(i128),
    /// A number with digits after the point, or one that is too large for an integer.
    Decimal(Decimal),
    /// In the character set of the connection.
    Text(Vec<u8>),
    Time(Instant),
}

impl Value {
    pub(crate) fn truth(is_true: bool) -> Value {
        Value::Integer(i128::from(is_true))
    }

    /// As a row of a result has it; `None` is NULL.
    pub(crate) fn text(&self) -> Option<Vec<u8>> {
        match self {
            Value::Null => None,
            Value::Integer(number) => Some(number.to_string().into_bytes()),
            Value::Decimal(decimal) => Some(decimal.text.clone().into_bytes()),
            Value::Text(text) => Some(text.clone()),
            Value::Time(at) => Some(at.text().into_bytes()),
        }
    }
}
