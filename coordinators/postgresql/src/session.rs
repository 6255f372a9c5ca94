use crate::error::{Outcome, SqlError};
use crate::settings::Settings;
use crate::sql::Parsed;
use crate::store::transaction::Transaction;
use crate::store::{Backend, Xid};
use crate::types::Type;
use fencepost_machine::ConnectionId;
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) backend: Backend,
    pub(crate) connection: Option<ConnectionId>,
    pub(crate) secret: u32,
    pub(crate) user: String,
    pub(crate) database: String,
    pub(crate) in_hot_standby: bool,
    pub(crate) settings: Settings,
    pub(crate) first_settings: Settings,
    pub(crate) transaction: Option<Transaction>,
    pub(crate) prepared: BTreeMap<String, Prepared>,
    pub(crate) notices: Vec<SqlError>,
}

#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    pub(crate) statement: Option<Rc<Parsed>>,
    pub(crate) parameters: Vec<Type>,
}

impl Session {
    pub(crate) fn xid(&self) -> Option<Xid> {
        self.transaction.as_ref()?.xid
    }

    pub(crate) fn show(&self, name: &str) -> Outcome<String> {
        match name.to_ascii_lowercase().as_str() {
            "transaction_isolation" => {
                let open = self.transaction.as_ref().map(|open| open.isolation);
                Ok(open.unwrap_or(self.settings.isolation).name().to_owned())
            }
            "transaction_read_only" => {
                let open = self.transaction.as_ref().map(|open| open.read_only);
                let is_on = open.unwrap_or(self.settings.read_only);
                Ok(if is_on { "on" } else { "off" }.to_owned())
            }
            "in_hot_standby" => Ok(if self.in_hot_standby { "on" } else { "off" }.to_owned()),
            "session_authorization" => Ok(self.user.clone()),
            _ => self.settings.show(name).map(|(_, value)| value),
        }
    }

    pub(crate) fn reset_all(&mut self) {
        self.settings = self.first_settings.clone();
    }

    pub(crate) fn deallocate(&mut self, name: Option<&str>) -> Outcome<()> {
        let Some(name) = name else {
            self.prepared.clear();
            return Ok(());
        };
        match self.prepared.remove(name) {
            Some(_) => Ok(()),
            None => {
                let message = format!("prepared statement \"{name}\" does not exist");
                Err(SqlError::new("26000", message))
            }
        }
    }
}
