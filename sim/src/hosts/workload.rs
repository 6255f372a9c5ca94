//! The workload of processes: acquire, read, hold, write, release, repeated; and the probe.

mod guard;
mod impatience;
mod process;

pub(crate) use guard::Guard;
pub(crate) use process::{Process, probe, work};
