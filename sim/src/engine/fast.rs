//! The discrete-event engine: goes to the next instant that matters and gives each host that is due
//! its turn.

use super::{Course, EngineError, check};
use crate::world::agenda::NEMESIS;
use crate::world::kernel::Kernel;

/// Runs the world to its end.
pub(crate) fn run(kernel: &Kernel, course: &Course) -> Result<(), EngineError> {
    let mut next = kernel.with(|state| state.next());
    while let Some(first) = course.admit(next) {
        if course.begin(kernel, first) {
            next = kernel.with(|state| state.next());
        }
        while let Some((_, host)) = next.filter(|(due, _)| *due <= first.0) {
            debug_assert_ne!(host, NEMESIS, "the nemesis has had its turn");
            next = kernel.turn(host);
            check(kernel)?;
        }
    }
    Ok(())
}
