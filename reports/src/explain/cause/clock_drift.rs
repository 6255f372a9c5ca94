//! A clock ran at the wrong rate.

use super::entry::{Entry, Measure, Need};
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;
use fencepost_faults::FaultKind;

pub(super) static ENTRY: Entry = Entry {
    needs: &[Need::Fault(FaultKind::ClockDrift)],
    between: Some(between),
    measure: Some(Measure::ClockRate),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A clock ran at the wrong rate.",
    how: "The server's clock ran fast, so that the lease ended before its holder expected.",
    helps: "Leave a margin for drift in the validity, as Redlock does, above the worst drift of \
            your clocks.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "{}, so the lease of {} was over sooner at the server than by its own clock.",
        scene.fault(FaultKind::ClockDrift, "The clock", "ran at the wrong rate"),
        scene.holder.process
    )
}
