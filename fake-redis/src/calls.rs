//! Executes commands from clients, scripts, the primary's stream and other sources.

pub(crate) mod execute;
pub(crate) mod lookup;
pub(crate) mod permission;
