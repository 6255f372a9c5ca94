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

/// A type's entry in `pg_type`.
struct Facts {
    oid: u32,
    size: i16,
    short_name: &'static str,
    sql_name: &'static str,
}

impl Type {
    /// The types of parameters: all types except void.
    const READABLE: [Type; 14] = [
        Type::Boolean,
        Type::Int2,
        Type::Int4,
        Type::Int8,
        Type::Numeric,
        Type::Float8,
        Type::Text,
        Type::Varchar(None),
        Type::Bpchar(0),
        Type::Name,
        Type::Timestamp,
        Type::Timestamptz,
        Type::Interval,
        Type::Unknown,
    ];

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
        Type::READABLE.into_iter().find(|kind| kind.oid() == oid)
    }

    fn facts(self) -> Facts {
        let (oid, size, short_name, sql_name) = match self {
            Type::Boolean => (16, 1, "bool", "boolean"),
            Type::Name => (19, 64, "name", "name"),
            Type::Int8 => (20, 8, "int8", "bigint"),
            Type::Int2 => (21, 2, "int2", "smallint"),
            Type::Int4 => (23, 4, "int4", "integer"),
            Type::Text => (25, -1, "text", "text"),
            Type::Float8 => (701, 8, "float8", "double precision"),
            Type::Unknown => (705, -2, "unknown", "unknown"),
            Type::Bpchar(_) => (1042, -1, "bpchar", "character"),
            Type::Varchar(_) => (1043, -1, "varchar", "character varying"),
            Type::Timestamp => (1114, 8, "timestamp", "timestamp without time zone"),
            Type::Timestamptz => (1184, 8, "timestamptz", "timestamp with time zone"),
            Type::Interval => (1186, 16, "interval", "interval"),
            Type::Numeric => (1700, -1, "numeric", "numeric"),
            Type::Void => (2278, 4, "void", "void"),
        };
        Facts { oid, size, short_name, sql_name }
    }

    pub(crate) fn oid(self) -> u32 {
        self.facts().oid
    }

    pub(crate) fn size(self) -> i16 {
        self.facts().size
    }

    pub(crate) fn short_name(self) -> &'static str {
        self.facts().short_name
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
        f.write_str(self.facts().sql_name)
    }
}
