//! Cause `clock-jump`: a clock was stepped.

use super::entry::{Entry, Measure, Need};
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;
use fencepost_faults::FaultKind;

pub(super) static ENTRY: Entry = Entry {
    needs: &[Need::Fault(FaultKind::ClockJump)],
    between: Some(between),
    measure: Some(Measure::ClockStep),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A clock was stepped.",
    how: "A forward step, by an operator or by a time server that corrects a large error, ends \
          leases early. Redis expires keys by the wall clock; memcached uses a clock that is not \
          stepped.",
    helps: "Let time servers slew clocks instead of stepping them. Fencing tokens prevent the \
            remaining damage.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "{}, so the lock of {} expired too early.",
        scene.clock(FaultKind::ClockJump, "was stepped", "at"),
        scene.holder.process
    )
}
