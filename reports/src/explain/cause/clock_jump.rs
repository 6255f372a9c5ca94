//! A clock was stepped.

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
    how: "A step forward, by an operator or by a time server that corrects a large error, ends \
          leases early. On Redis: keys expire by the wall clock; memcached goes by a clock that is \
          not stepped.",
    helps: "Let time servers slew clocks in place of stepping them. Fencing tokens keep the \
            rest from doing damage.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "{}, so the lock of {} ran out too early.",
        scene.fault(FaultKind::ClockJump, "The clock", "was stepped"),
        scene.holder.process
    )
}
