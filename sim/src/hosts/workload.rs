//! What processes do: acquire, read, hold, write, release, again and again; and the probe that
//! tries the lock after healing.

mod guard;
mod process;

pub(crate) use guard::Guard;
pub(crate) use process::{Process, probe, work};

use fencepost_reports::Workload;

/// What the storage holds at the start.
pub(crate) fn initial(workload: Workload) -> i64 {
    match workload {
        Workload::Register | Workload::Sequence => 0,
        Workload::Seckill => 20,
    }
}

/// What a process writes back after it has read `value`; `None` if there is nothing to write:
/// the stock is sold out.
pub(crate) fn next(workload: Workload, value: i64) -> Option<i64> {
    match workload {
        Workload::Register | Workload::Sequence => Some(value + 1),
        Workload::Seckill => (value > 0).then(|| value - 1),
    }
}
