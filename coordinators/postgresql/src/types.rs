//! SQL types and values, with their text and binary forms.

mod interval;
mod timestamp;
mod value;

pub(crate) use interval::Interval;
pub(crate) use timestamp::{MAX as TIME_MAX, MIN as TIME_MIN};
pub(crate) use value::{Value, compare};

use crate::error::{Outcome, SqlError};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) enum Type {
    Boolean,
    Int2,
    Int4,
    Int8,
    Numeric,
    Float8,
    Text,
    Varchar(Option<u32>),
    Bpchar(u32),
    Name,
    Timestamp,
    Timestamptz,
    Interval,
    Void,
    Unknown,
}

const LENGTH_MAX: u32 = 10_485_760;

impl Type {
    pub(crate) fn named(name: &str, length: Option<u32>) -> Outcome<Type> {
        let checked = |kind: &str| match length {
            Some(0) => {
                let message = format!("length for type {kind} must be at least 1");
                Err(SqlError::new("22023", message))
            }
            Some(length) if length > LENGTH_MAX => {
                let message = format!("length for type {kind} cannot exceed {LENGTH_MAX}");
                Err(SqlError::new("22023", message))
            }
            length => Ok(length),
        };
        Ok(match name {
            "bool" | "boolean" => Type::Boolean,
            "int2" | "smallint" => Type::Int2,
            "int4" | "int" | "integer" => Type::Int4,
            "int8" | "bigint" => Type::Int8,
            "numeric" | "decimal" => Type::Numeric,
            "float8" => Type::Float8,
            "text" => Type::Text,
            "varchar" => Type::Varchar(checked("varchar")?),
            "char" | "character" | "bpchar" => Type::Bpchar(checked("char")?.unwrap_or(1)),
            "name" => Type::Name,
            "timestamp" => Type::Timestamp,
            "timestamptz" => Type::Timestamptz,
            "interval" => Type::Interval,
            "bigserial" | "bytea" | "date" | "float4" | "inet" | "json" | "jsonb" | "oid"
            | "real" | "serial" | "time" | "timetz" | "uuid" | "xml" => {
                return Err(SqlError::unsupported(format!("type {name}")));
            }
            _ => {
                return Err(SqlError::new("42704", format!("type \"{name}\" does not exist")));
            }
        })
    }

    pub(crate) fn is_name(word: &str) -> bool {
        ["interval", "timestamp", "timestamptz", "text", "varchar", "bool", "boolean", "int4"]
            .contains(&word)
    }

    pub(crate) fn of_oid(oid: u32) -> Option<Type> {
        Some(match oid {
            16 => Type::Boolean,
            19 => Type::Name,
            20 => Type::Int8,
            21 => Type::Int2,
            23 => Type::Int4,
            25 => Type::Text,
            701 => Type::Float8,
            705 => Type::Unknown,
            1042 => Type::Bpchar(0),
            1043 => Type::Varchar(None),
            1114 => Type::Timestamp,
            1184 => Type::Timestamptz,
            1186 => Type::Interval,
            1700 => Type::Numeric,
            _ => return None,
        })
    }

    pub(crate) fn oid(self) -> u32 {
        match self {
            Type::Boolean => 16,
            Type::Name => 19,
            Type::Int8 => 20,
            Type::Int2 => 21,
            Type::Int4 => 23,
            Type::Text => 25,
            Type::Float8 => 701,
            Type::Unknown => 705,
            Type::Bpchar(_) => 1042,
            Type::Varchar(_) => 1043,
            Type::Timestamp => 1114,
            Type::Timestamptz => 1184,
            Type::Interval => 1186,
            Type::Numeric => 1700,
            Type::Void => 2278,
        }
    }

    pub(crate) fn size(self) -> i16 {
        match self {
            Type::Boolean => 1,
            Type::Int2 => 2,
            Type::Int4 | Type::Void => 4,
            Type::Int8 | Type::Float8 | Type::Timestamp | Type::Timestamptz => 8,
            Type::Interval => 16,
            Type::Name => 64,
            Type::Unknown => -2,
            Type::Numeric | Type::Text | Type::Varchar(_) | Type::Bpchar(_) => -1,
        }
    }

    pub(crate) fn modifier(self) -> i32 {
        match self {
            Type::Varchar(Some(length)) | Type::Bpchar(length @ 1..) => length as i32 + 4,
            _ => -1,
        }
    }

    pub(crate) fn full_name(self) -> String {
        match self {
            Type::Varchar(Some(length)) => format!("character varying({length})"),
            Type::Bpchar(length @ 1..) => format!("character({length})"),
            other => other.to_string(),
        }
    }

    pub(crate) fn short_name(self) -> &'static str {
        match self {
            Type::Boolean => "bool",
            Type::Int2 => "int2",
            Type::Int4 => "int4",
            Type::Int8 => "int8",
            Type::Numeric => "numeric",
            Type::Float8 => "float8",
            Type::Text => "text",
            Type::Varchar(_) => "varchar",
            Type::Bpchar(_) => "bpchar",
            Type::Name => "name",
            Type::Timestamp => "timestamp",
            Type::Timestamptz => "timestamptz",
            Type::Interval => "interval",
            Type::Void => "void",
            Type::Unknown => "unknown",
        }
    }

    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Type::Int2 | Type::Int4 | Type::Int8)
    }

    pub(crate) fn is_text(self) -> bool {
        matches!(self, Type::Text | Type::Varchar(_) | Type::Bpchar(_) | Type::Name)
    }

    pub(crate) fn is_time(self) -> bool {
        matches!(self, Type::Timestamp | Type::Timestamptz)
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Type::Boolean => "boolean",
            Type::Int2 => "smallint",
            Type::Int4 => "integer",
            Type::Int8 => "bigint",
            Type::Float8 => "double precision",
            Type::Varchar(_) => "character varying",
            Type::Bpchar(_) => "character",
            Type::Timestamp => "timestamp without time zone",
            Type::Timestamptz => "timestamp with time zone",
            other => other.short_name(),
        })
    }
}
