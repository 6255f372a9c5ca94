//! The workload of processes: acquire, read, hold, write, release, repeated; and the probe that
//! tries the lock after healing.

mod guard;
mod impatience;
mod process;

pub(crate) use guard::Guard;
pub(crate) use process::{Process, probe, work};
