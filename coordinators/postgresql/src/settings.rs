//! Session settings that affect locks, or that clients set routinely.

use crate::error::{Outcome, Severity, SqlError};
use crate::sql::ast::Isolation;
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Settings {
    /// Durations in milliseconds. 0 disables a timeout.
    spans: BTreeMap<&'static str, u64>,
    pub(crate) isolation: Isolation,
    pub(crate) read_only: bool,
    texts: BTreeMap<&'static str, String>,
}

const SPANS: &[(&str, u64)] = &[
    ("deadlock_timeout", 1_000),
    ("idle_in_transaction_session_timeout", 0),
    ("idle_session_timeout", 0),
    ("lock_timeout", 0),
    ("statement_timeout", 0),
];

/// Settings with their defaults and supported values. An empty list allows any value.
const TEXTS: &[(&str, &str, &[&str])] = &[
    ("DateStyle", "ISO, MDY", &["iso, mdy", "iso", "mdy"]),
    ("IntervalStyle", "postgres", &["postgres"]),
    ("TimeZone", "UTC", &["utc", "gmt", "etc/utc"]),
    ("application_name", "", &[]),
    ("bytea_output", "hex", &["hex"]),
    ("client_encoding", "UTF8", &["utf8", "utf-8", "unicode"]),
    ("client_min_messages", "notice", LEVELS),
    ("extra_float_digits", "1", &["0", "1", "2", "3"]),
    ("search_path", "\"$user\", public", &["public", "\"$user\", public"]),
    ("standard_conforming_strings", "on", &["on", "true", "1"]),
    ("synchronous_commit", "on", &["on", "true", "1", "local", "remote_write", "remote_apply"]),
];

const LEVELS: &[&str] = &[
    "debug5", "debug4", "debug3", "debug2", "debug1", "debug", "log", "info", "notice", "warning",
    "error",
];

/// Settings of PostgreSQL that the model lacks.
const UNSUPPORTED: &[&str] = &[
    "array_nulls",
    "backslash_quote",
    "check_function_bodies",
    "client_connection_check_interval",
    "default_table_access_method",
    "default_tablespace",
    "default_transaction_deferrable",
    "enable_seqscan",
    "escape_string_warning",
    "fsync",
    "geqo",
    "jit",
    "lc_messages",
    "log_min_duration_statement",
    "log_min_messages",
    "log_statement",
    "maintenance_work_mem",
    "max_connections",
    "max_parallel_workers_per_gather",
    "plan_cache_mode",
    "random_page_cost",
    "role",
    "row_security",
    "session_replication_role",
    "tcp_keepalives_idle",
    "tcp_user_timeout",
    "temp_tablespaces",
    "transaction_deferrable",
    "transaction_read_only",
    "work_mem",
    "xmloption",
];

const FIXED: &[(&str, &str)] = &[
    ("integer_datetimes", "on"),
    ("is_superuser", "on"),
    ("server_encoding", "UTF8"),
    ("server_version", crate::VERSION),
    ("server_version_num", "150020"),
];

/// Settings in the order in which PostgreSQL reports them.
pub(crate) const REPORTED: &[&str] = &[
    "application_name",
    "client_encoding",
    "DateStyle",
    "default_transaction_read_only",
    "in_hot_standby",
    "integer_datetimes",
    "IntervalStyle",
    "is_superuser",
    "server_encoding",
    "server_version",
    "session_authorization",
    "standard_conforming_strings",
    "TimeZone",
];

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            spans: SPANS.iter().copied().collect(),
            isolation: Isolation::ReadCommitted,
            read_only: false,
            texts: TEXTS.iter().map(|(name, value, _)| (*name, (*value).to_owned())).collect(),
        }
    }
}

impl Isolation {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "read uncommitted",
            Isolation::ReadCommitted => "read committed",
            Isolation::RepeatableRead => "repeatable read",
            Isolation::Serializable => "serializable",
        }
    }

    fn named(name: &str) -> Option<Isolation> {
        [
            Isolation::ReadUncommitted,
            Isolation::ReadCommitted,
            Isolation::RepeatableRead,
            Isolation::Serializable,
        ]
        .into_iter()
        .find(|isolation| isolation.name() == name)
    }
}

impl Settings {
    pub(crate) fn span(&self, name: &str) -> Option<u64> {
        self.spans.get(name).copied().filter(|span| *span > 0).map(|span| span * 1_000)
    }

    /// Returns `true` if the client receives notices and warnings of this severity.
    pub(crate) fn shows(&self, severity: Severity) -> bool {
        match self.texts.get("client_min_messages").map(String::as_str) {
            Some("error") => false,
            Some("warning") => severity != Severity::Notice,
            _ => true,
        }
    }

    pub(crate) fn waits_for_standby(&self) -> bool {
        self.texts.get("synchronous_commit").is_none_or(|value| value != "local")
    }

    pub(crate) fn show(&self, name: &str) -> Outcome<(&'static str, String)> {
        let is_it = |known: &str| known.eq_ignore_ascii_case(name);
        if let Some((known, span)) = self.spans.iter().find(|(known, _)| is_it(known)) {
            return Ok((known, shown(*span)));
        }
        if let Some((known, value)) = self.texts.iter().find(|(known, _)| is_it(known)) {
            return Ok((known, value.clone()));
        }
        if let Some((known, value)) = FIXED.iter().find(|(known, _)| is_it(known)) {
            return Ok((known, (*value).to_owned()));
        }
        let on = |value: bool| if value { "on" } else { "off" }.to_owned();
        match name.to_ascii_lowercase().as_str() {
            "default_transaction_isolation" => {
                Ok(("default_transaction_isolation", self.isolation.name().to_owned()))
            }
            "default_transaction_read_only" => {
                Ok(("default_transaction_read_only", on(self.read_only)))
            }
            _ => Err(unknown(name)),
        }
    }

    pub(crate) fn set(&mut self, name: &str, value: Option<&str>) -> Outcome<()> {
        let is_it = |known: &str| known.eq_ignore_ascii_case(name);
        if let Some((known, start)) = SPANS.iter().find(|(known, _)| is_it(known)) {
            let span = value.map_or(Ok(*start), |value| span_of(known, value))?;
            self.spans.insert(known, span);
            return Ok(());
        }
        if let Some((known, start, allowed)) = TEXTS.iter().find(|(known, ..)| is_it(known)) {
            let value = value.unwrap_or(start);
            let is_allowed = allowed.contains(&value.to_ascii_lowercase().as_str());
            if !is_allowed && !allowed.is_empty() {
                return Err(refused(known, value));
            }
            let kept = match *known {
                "TimeZone" | "extra_float_digits" | "search_path" => value.to_owned(),
                "client_min_messages" if value.eq_ignore_ascii_case("debug") => "debug2".to_owned(),
                "client_min_messages" => value.to_ascii_lowercase(),
                "synchronous_commit" if !["true", "1"].contains(&value) => {
                    value.to_ascii_lowercase()
                }
                _ if is_allowed => (*start).to_owned(),
                _ => value.to_owned(),
            };
            self.texts.insert(known, kept);
            return Ok(());
        }
        if FIXED.iter().any(|(known, _)| is_it(known)) {
            let message = format!("parameter \"{}\" cannot be changed", name.to_ascii_lowercase());
            return Err(SqlError::new("55P02", message));
        }
        self.set_default_modes(name, value)
    }

    fn set_default_modes(&mut self, name: &str, value: Option<&str>) -> Outcome<()> {
        match name.to_ascii_lowercase().as_str() {
            "default_transaction_isolation" => {
                let value = value.unwrap_or("read committed");
                let isolation = Isolation::named(&value.to_ascii_lowercase());
                self.isolation = isolation.ok_or_else(|| {
                    invalid("default_transaction_isolation", value).hint(
                        "Available values: serializable, repeatable read, read committed, read \
                         uncommitted.",
                    )
                })?;
            }
            "default_transaction_read_only" => {
                let value = value.unwrap_or("off");
                self.read_only = match value.to_ascii_lowercase().as_str() {
                    "on" | "true" | "yes" | "1" => true,
                    "off" | "false" | "no" | "0" => false,
                    _ => {
                        let message = "parameter \"default_transaction_read_only\" requires a \
                                       Boolean value";
                        return Err(SqlError::new("22023", message));
                    }
                };
            }
            // PostgreSQL accepts any setting of an extension.
            _ if name.contains('.') => {
                return Err(SqlError::unsupported(format!("the parameter \"{name}\"")));
            }
            _ => return Err(unknown(name)),
        }
        Ok(())
    }
}

fn unknown(name: &str) -> SqlError {
    let lower = name.to_ascii_lowercase();
    if UNSUPPORTED.contains(&lower.as_str()) {
        return SqlError::unsupported(format!("the parameter \"{lower}\""));
    }
    SqlError::new("42704", format!("unrecognized configuration parameter \"{name}\""))
}

fn refused(name: &str, value: &str) -> SqlError {
    if name == "client_min_messages" {
        let hint = "Available values: debug5, debug4, debug3, debug2, debug1, log, notice, \
                    warning, error.";
        return invalid(name, value).hint(hint);
    }
    SqlError::unsupported(format!("the value \"{value}\" of the parameter \"{name}\""))
}

fn invalid(name: &str, value: &str) -> SqlError {
    SqlError::new("22023", format!("invalid value for parameter \"{name}\": \"{value}\""))
}

fn shown(span: u64) -> String {
    let units = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s")];
    match units.into_iter().find(|(unit, _)| span > 0 && span.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", span / unit),
        None if span == 0 => "0".to_owned(),
        None => format!("{span}ms"),
    }
}

fn span_of(name: &str, value: &str) -> Outcome<u64> {
    let text = value.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (digits, unit) = (text[..end].trim(), text[end..].trim());
    let factor = match unit {
        "" | "ms" => Some(1),
        "s" => Some(1_000),
        "min" => Some(60_000),
        "h" => Some(3_600_000),
        "d" => Some(86_400_000),
        _ => None,
    };
    let Ok(count) = digits.parse::<i64>() else { return Err(invalid(name, value)) };
    let Some(factor) = factor else {
        let hint = "Valid units for this parameter are \"us\", \"ms\", \"s\", \"min\", \"h\", and \
                    \"d\".";
        return Err(invalid(name, value).hint(hint));
    };
    let span = count.saturating_mul(factor);
    let least = if name == "deadlock_timeout" { 1 } else { 0 };
    if !(least..=i64::from(i32::MAX)).contains(&span) {
        let message = format!(
            "{span} ms is outside the valid range for parameter \"{name}\" ({least} .. 2147483647)"
        );
        return Err(SqlError::new("22023", message));
    }
    Ok(span as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_number_matches_the_version() {
        let value = |name| FIXED.iter().find(|(one, _)| *one == name).expect("is listed").1;
        let version = crate::VERSION.split(' ').next().expect("a version");
        let (major, minor) = version.split_once('.').expect("two numbers");
        assert_eq!(value("server_version_num"), format!("{major}{minor:0>4}"));
    }
}
