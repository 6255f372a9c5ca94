//! Executes commands, for example from clients, scripts and the primary's stream.

pub(crate) mod execute;
pub(crate) mod lookup;
pub(crate) mod permission;
