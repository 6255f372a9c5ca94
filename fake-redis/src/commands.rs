//! The commands, one file for each family, and the table of them all. Must never know connections or bytes.

mod connection;
mod key;
mod persistence;
mod replication;
mod set;
mod string;

use crate::command::Command;

/// Every family. A new one is a new file and a line here.
pub(crate) static FAMILIES: &[&[Command]] =
    &[connection::COMMANDS, string::COMMANDS, key::COMMANDS, replication::COMMANDS, persistence::COMMANDS];
