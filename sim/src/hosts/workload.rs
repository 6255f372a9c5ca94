//! The workload of processes, which acquire, read, hold, write and release in a loop.

mod guard;
mod impatience;
mod process;

pub(crate) use guard::Guard;
pub(crate) use process::{Process, probe, work};
