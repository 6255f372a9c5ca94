//! Executes commands, whether they come from clients, EXEC, scripts or the primary's stream.

pub(crate) mod execute;
pub(crate) mod lookup;
pub(crate) mod permission;
