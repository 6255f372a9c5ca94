use crate::VERSION;
use crate::error::{Outcome, SqlError};
use crate::number::seconds;
use crate::packet::BODY_MAX;
use crate::value::Value;
use std::collections::BTreeMap;

struct Integer {
    name: &'static str,
    bounds: (u64, u64),
    default: u64,
}

const YEAR: u64 = 31_536_000;

const INTEGERS: &[Integer] = &[
    Integer { name: "wait_timeout", bounds: (1, YEAR), default: 28_800 },
    Integer { name: "interactive_timeout", bounds: (1, YEAR), default: 28_800 },
    Integer { name: "lock_wait_timeout", bounds: (0, YEAR), default: 86_400 },
    Integer { name: "innodb_lock_wait_timeout", bounds: (0, 100_000_000), default: 50 },
    Integer { name: "net_read_timeout", bounds: (1, YEAR), default: 30 },
    Integer { name: "net_write_timeout", bounds: (1, YEAR), default: 60 },
];

/// Variables of MariaDB that the model lacks.
const UNSUPPORTED: &[&str] = &[
    "auto_increment_increment",
    "auto_increment_offset",
    "binlog_format",
    "character_set_client",
    "character_set_connection",
    "character_set_database",
    "character_set_results",
    "character_set_server",
    "collation_connection",
    "collation_database",
    "collation_server",
    "default_storage_engine",
    "error_count",
    "foreign_key_checks",
    "group_concat_max_len",
    "hostname",
    "idle_transaction_timeout",
    "init_connect",
    "innodb_deadlock_detect",
    "innodb_flush_log_at_trx_commit",
    "innodb_rollback_on_timeout",
    "innodb_snapshot_isolation",
    "last_insert_id",
    "license",
    "lower_case_table_names",
    "max_connections",
    "max_statement_time",
    "net_buffer_length",
    "optimizer_switch",
    "performance_schema",
    "port",
    "query_cache_size",
    "query_cache_type",
    "read_only",
    "server_id",
    "sql_auto_is_null",
    "sql_log_bin",
    "sql_mode",
    "sql_notes",
    "sql_safe_updates",
    "sql_select_limit",
    "sql_warnings",
    "system_time_zone",
    "thread_stack",
    "time_zone",
    "tx_read_only",
    "unique_checks",
    "warning_count",
];

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Variables {
    integers: BTreeMap<&'static str, u64>,
    pub(crate) autocommit: bool,
    pub(crate) isolation: &'static str,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Autocommit(bool),
    Timestamp(Option<i64>),
    Integer { name: &'static str, value: u64, out_of_bounds: Option<String> },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Setting {
    Truth(bool),
    Number(u64),
    Text(String),
}

impl Default for Variables {
    fn default() -> Variables {
        Variables { integers: BTreeMap::new(), autocommit: true, isolation: "REPEATABLE-READ" }
    }
}

impl Variables {
    pub(crate) fn get(&self, name: &str, is_global: bool) -> Outcome<Setting> {
        let first = Variables::default();
        let of = if is_global { &first } else { self };
        if let Some(integer) = INTEGERS.iter().find(|integer| integer.name == name) {
            let set = of.integers.get(integer.name).copied();
            return Ok(Setting::Number(set.unwrap_or(integer.default)));
        }
        match name {
            "autocommit" => Ok(Setting::Truth(of.autocommit)),
            "tx_isolation" => Ok(Setting::Text(of.isolation.to_owned())),
            "max_allowed_packet" => Ok(Setting::Number(BODY_MAX as u64)),
            "version" => Ok(Setting::Text(VERSION.to_owned())),
            "version_comment" => Ok(Setting::Text("Debian 12".to_owned())),
            "timestamp" => Err(SqlError::unsupported("@@timestamp")),
            _ => Err(unknown(name)),
        }
    }

    pub(crate) fn make_interactive(&mut self) {
        if let Ok(Setting::Number(seconds)) = self.get("interactive_timeout", false) {
            self.integers.insert("wait_timeout", seconds);
        }
    }

    pub(crate) fn wait_timeout_us(&self) -> u64 {
        match self.get("wait_timeout", false) {
            Ok(Setting::Number(seconds)) => seconds * 1_000_000,
            _ => u64::MAX,
        }
    }

    pub(crate) fn row_wait_us(&self) -> i128 {
        match self.get("innodb_lock_wait_timeout", false) {
            Ok(Setting::Number(seconds)) => i128::from(seconds) * 1_000_000,
            _ => 0,
        }
    }

    /// Checks an assignment. A value of `None` means the default.
    pub(crate) fn check(&self, name: &str, value: Option<&Value>) -> Outcome<Change> {
        if name == "autocommit" {
            return autocommit(value).map(Change::Autocommit);
        }
        if let Some(integer) = INTEGERS.iter().find(|integer| integer.name == name) {
            return integer.check(value);
        }
        match name {
            "timestamp" => timestamp(value).map(Change::Timestamp),
            "max_allowed_packet" => {
                let message = "SESSION variable 'max_allowed_packet' is read-only. Use SET \
                               GLOBAL to assign the value";
                Err(SqlError::new(1621, "HY000", message))
            }
            "version" | "version_comment" => {
                let message = format!("Variable '{name}' is a read only variable");
                Err(SqlError::new(1238, "HY000", message))
            }
            "tx_isolation" => Err(SqlError::unsupported("SET tx_isolation")),
            _ => Err(unknown(name)),
        }
    }

    pub(crate) fn apply(&mut self, change: &Change) {
        match change {
            Change::Autocommit(is_on) => self.autocommit = *is_on,
            Change::Timestamp(_) => {}
            Change::Integer { name, value, .. } => {
                self.integers.insert(name, *value);
            }
        }
    }
}

impl Integer {
    fn check(&self, value: Option<&Value>) -> Outcome<Change> {
        let wanted = match value {
            None => i128::from(self.default),
            Some(Value::Integer(number)) => *number,
            Some(_) => {
                let message = format!("Incorrect argument type to variable '{}'", self.name);
                return Err(SqlError::new(1232, "42000", message));
            }
        };
        let (least, most) = self.bounds;
        let value = wanted.clamp(i128::from(least), i128::from(most)) as u64;
        let out_of_bounds = (i128::from(value) != wanted).then(|| wanted.to_string());
        Ok(Change::Integer { name: self.name, value, out_of_bounds })
    }
}

fn unknown(name: &str) -> SqlError {
    match UNSUPPORTED.contains(&name) {
        true => SqlError::unsupported(&format!("the variable {name}")),
        false => SqlError::unknown_variable(name),
    }
}

fn timestamp(value: Option<&Value>) -> Outcome<Option<i64>> {
    let micros = match value {
        None => 0,
        Some(Value::Integer(number)) => number.saturating_mul(1_000_000),
        Some(Value::Decimal(decimal)) => seconds(decimal.text.as_bytes()).micros,
        Some(_) => return Err(SqlError::unsupported("this timestamp")),
    };
    match i64::try_from(micros) {
        Ok(0) => Ok(None),
        Ok(micros @ 1_000_000..2_147_483_647_000_000) => Ok(Some(micros)),
        _ => Err(SqlError::unsupported("this timestamp")),
    }
}

fn autocommit(value: Option<&Value>) -> Outcome<bool> {
    let shown = match value {
        None | Some(Value::Integer(1)) => return Ok(true),
        Some(Value::Integer(0)) => return Ok(false),
        Some(Value::Decimal(_) | Value::Time(_)) => {
            let message = "Incorrect argument type to variable 'autocommit'";
            return Err(SqlError::new(1232, "42000", message));
        }
        Some(Value::Null) => "NULL".to_owned(),
        Some(Value::Integer(number)) => number.to_string(),
        Some(Value::Text(text)) => {
            let text = String::from_utf8_lossy(text).into_owned();
            match text.to_ascii_lowercase().as_str() {
                "on" | "true" => return Ok(true),
                "off" | "false" => return Ok(false),
                _ => text,
            }
        }
    };
    let message = format!("Variable 'autocommit' can't be set to the value of '{shown}'");
    Err(SqlError::new(1231, "42000", message))
}
