//! The workload of a process: a loop of acquire, read, hold, write and release.

mod guard;
mod impatience;
mod process;

pub(crate) use guard::Guard;
pub(crate) use process::{Process, probe, work};
