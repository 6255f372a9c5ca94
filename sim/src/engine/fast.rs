//! The discrete-event engine: goes to the next instant that matters and gives each host that is due its turn. Must never know more than that.

use super::{Course, EngineError, check};
use crate::world::agenda::NEMESIS;
use crate::world::kernel::Kernel;

/// Runs the world to its end.
pub(crate) fn run(kernel: &Kernel, course: &Course) -> Result<(), EngineError> {
    while let Some(at) = course.next(kernel) {
        course.begin(kernel, at);
        while let Some((due, host)) = kernel.with(|state| state.next()) {
            if due > at {
                break;
            }
            debug_assert_ne!(host, NEMESIS, "the nemesis has had its turn");
            kernel.turn(host);
            check(kernel)?;
        }
    }
    Ok(())
}
