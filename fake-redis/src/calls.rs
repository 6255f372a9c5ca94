//! Executes commands from clients, EXEC, scripts and the primary's stream.

pub(crate) mod execute;
pub(crate) mod lookup;
pub(crate) mod permission;
