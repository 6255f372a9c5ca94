//! Execution of a command, for clients, EXEC, scripts and the primary's stream alike.
//!
//! In: arguments. Out: the reply and the recorded effects. The server's command table holds the
//! code of each command.

pub(crate) mod execute;
pub(crate) mod lookup;
pub(crate) mod permission;
