//! The commands of a server: all of them, and those that were called lately.

use super::recent::Recent;
use super::{Command, Table};

/// The commands of a server.
#[derive(Debug)]
pub(crate) struct Commands {
    table: &'static Table,
    recent: Recent,
}

impl Commands {
    /// Those of a table.
    pub(crate) fn new(table: &'static Table) -> Self {
        Commands { table, recent: Recent::default() }
    }

    /// All of them by their names.
    pub(crate) fn table(&self) -> &'static Table {
        self.table
    }

    /// The command of this name, in any case, if it was called lately.
    pub(crate) fn find_recent(&self, name: &[u8]) -> Option<&'static Command> {
        self.recent.find(name)
    }

    /// A command that this server knows was called.
    pub(crate) fn note_called(&mut self, command: &'static Command) {
        self.recent.note(command);
    }
}
