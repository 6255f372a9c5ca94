use super::recent::Recent;
use super::{Command, Table};

#[derive(Debug)]
pub(crate) struct Commands {
    pub(crate) table: &'static Table,
    recent: Recent,
}

impl Commands {
    pub(crate) fn new(table: &'static Table) -> Self {
        Commands { table, recent: Recent::default() }
    }

    pub(crate) fn find_recent(&self, name: &[u8]) -> Option<&'static Command> {
        self.recent.find(name)
    }

    pub(crate) fn note_called(&mut self, command: &'static Command) {
        self.recent.note(command);
    }
}
