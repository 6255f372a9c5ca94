//! The workload of the processes. In a loop, a process acquires the lock, reads, holds, writes and
//! releases.

mod guard;
mod impatience;
mod process;

pub(crate) use guard::Guard;
pub(crate) use process::{Process, probe, work};
