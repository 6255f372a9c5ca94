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
    what: "A server's or a process's clock ran at the wrong rate.",
    how: "The server's clock ran fast, so the lease expired earlier than its holder expected.",
    helps: "Subtract a drift margin from the validity time, as Redlock does. Make the margin \
            larger than the worst drift of your clocks.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "{}, so the lease of {} expired earlier by the server's clock than by the holder's.",
        scene.clock(FaultKind::ClockDrift, "ran at the wrong rate", "from"),
        scene.holder.process
    )
}
