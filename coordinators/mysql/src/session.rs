use crate::charset::Charset;
use crate::error::{Outcome, SqlError};
use crate::locks::SessionId;
use crate::packet::Status;
use crate::store::Store;
use crate::variables::Variables;

const DATABASES: &[&str] = &["information_schema", "mysql", "performance_schema", "sys"];
/// Default of MariaDB's `max_error_count`.
const MESSAGES_MAX: usize = 64;

#[derive(Debug, Default)]
pub(crate) struct Session {
    pub(crate) id: SessionId,
    pub(crate) user: String,
    pub(crate) host: String,
    pub(crate) database: Option<String>,
    pub(crate) charset: Charset,
    pub(crate) variables: Variables,
    pub(crate) in_transaction: bool,
    pub(crate) isolation: &'static str,
    pub(crate) timestamp: Option<i64>,
    /// `true` if affected rows include rows that matched but did not change (CLIENT_FOUND_ROWS).
    pub(crate) counts_found: bool,
    pub(crate) no_index: bool,
    pub(crate) takes_several: bool,
    pub(crate) messages: Vec<Message>,
    pub(crate) warnings: u16,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Message {
    pub(crate) level: &'static str,
    pub(crate) code: u16,
    pub(crate) text: Vec<u8>,
}

impl Session {
    pub(crate) fn new(id: SessionId, host: String) -> Session {
        let isolation = Variables::default().isolation;
        Session { id, host, charset: crate::charset::DEFAULT, isolation, ..Session::default() }
    }

    pub(crate) fn status(&self) -> Status {
        let transaction = u16::from(self.in_transaction) * Status::IN_TRANSACTION;
        let autocommit = u16::from(self.variables.autocommit) * Status::AUTOCOMMIT;
        let no_index = u16::from(self.no_index) * Status::NO_INDEX_USED;
        Status(transaction | autocommit | no_index)
    }

    pub(crate) fn warn(&mut self, code: u16, text: impl Into<Vec<u8>>) {
        self.add_message(Message { level: "Warning", code, text: text.into() });
    }

    pub(crate) fn add_error(&mut self, error: &SqlError) {
        self.add_message(Message { level: "Error", code: error.code, text: error.message.clone() });
    }

    pub(crate) fn forget_messages(&mut self) {
        if self.warnings == 0 {
            self.messages.clear();
        }
    }

    fn add_message(&mut self, message: Message) {
        self.forget_messages();
        self.warnings = self.warnings.saturating_add(1);
        if self.messages.len() < MESSAGES_MAX {
            self.messages.push(message);
        }
    }

    pub(crate) fn warn_or(&mut self, error: SqlError, is_warning: bool) -> Outcome<()> {
        if !is_warning {
            return Err(error);
        }
        self.warn(error.code, error.message);
        Ok(())
    }

    pub(crate) fn note(&mut self, error: SqlError, is_note: bool) -> Outcome<()> {
        if !is_note {
            return Err(error);
        }
        self.add_message(Message { level: "Note", code: error.code, text: error.message });
        Ok(())
    }

    pub(crate) fn instant(&self, wall: i64) -> i64 {
        self.timestamp.unwrap_or(wall)
    }

    pub(crate) fn end_transaction(&mut self) {
        self.in_transaction = false;
        self.isolation = self.variables.isolation;
    }

    pub(crate) fn knows(&self, name: &str, store: &Store) -> bool {
        DATABASES.contains(&name) || store.databases.contains(name)
    }

    pub(crate) fn choose(&mut self, name: &str, store: &Store) -> Result<(), SqlError> {
        if name.is_empty() {
            return Err(SqlError::no_database());
        }
        if name.ends_with('\0') {
            let name = name.trim_end_matches('\0');
            let message = format!("Incorrect database name '{name}'");
            return Err(SqlError::new(1102, "42000", message));
        }
        let is_known = |known: &&&str| {
            // The names of other databases are case-sensitive, because a database is a folder.
            **known == name || **known == "information_schema" && name.eq_ignore_ascii_case(known)
        };
        let known = DATABASES.iter().find(is_known).map(|known| (*known).to_owned());
        let known = known.or_else(|| store.databases.get(name).cloned());
        self.database = Some(known.ok_or_else(|| SqlError::unknown_database(name))?);
        Ok(())
    }

    pub(crate) fn reset(&mut self) {
        self.variables = Variables::default();
        self.charset = crate::charset::DEFAULT;
        self.end_transaction();
        self.timestamp = None;
        self.messages.clear();
    }
}
