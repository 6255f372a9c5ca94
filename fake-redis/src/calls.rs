//! A command that is found, permitted and executed, whoever asks.
//!
//! In: arguments. Out: the reply, and the command's effects noted. Clients, EXEC, scripts and the
//! primary's stream all end here; the code itself is in the table that the server was given.

pub(crate) mod execute;
pub(crate) mod lookup;
pub(crate) mod permission;
