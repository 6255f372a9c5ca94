use crate::setup::span::{InvalidSpan, SpanRange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hold {
    /// Drawn log-uniformly from a range.
    Drawn(SpanRange),
    /// Until the end of the validity that the lock reports, or for a ttl if the lock reports none.
    UntilValidity,
}

impl fmt::Display for Hold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hold::Drawn(range) => range.fmt(f),
            Hold::UntilValidity => f.write_str("until-validity"),
        }
    }
}

impl std::str::FromStr for Hold {
    type Err = InvalidSpan;

    fn from_str(text: &str) -> Result<Hold, Self::Err> {
        if text == "until-validity" {
            Ok(Hold::UntilValidity)
        } else {
            text.parse().map(Hold::Drawn)
        }
    }
}

impl Serialize for Hold {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hold {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Hold, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Hold {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Hold".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "description": "A range of durations, \
         like 10ms..8s, or `until-validity`." })
    }
}
