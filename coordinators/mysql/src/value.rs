use crate::number::Decimal;
use crate::timestamp::Instant;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Value {
    Null,
    Integer(i128),
    Decimal(Decimal),
    Text(Vec<u8>),
    Time(Instant),
}

impl Value {
    pub(crate) fn truth(is_true: bool) -> Value {
        Value::Integer(i128::from(is_true))
    }

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
