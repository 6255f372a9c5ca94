//! Execution of a command, for clients, EXEC, scripts and the primary's stream alike.

pub(crate) mod execute;
pub(crate) mod lookup;
pub(crate) mod permission;
