use super::entry::{Entry, Measure, Need};
use crate::explain::scene::Scene;
use fencepost_faults::FaultKind;

pub(super) static ENTRY: Entry = Entry {
    how: "The server's clock ran fast, so the lease expired earlier than its holder expected.",
    helps: "Subtract a drift margin from the validity time, as Redlock does. Make the margin \
            larger than the worst drift of your clocks.",
    needs: &[Need::Fault(FaultKind::ClockDrift)],
    between: Some(between),
    measure: Some(Measure::ClockRate),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let clock = scene.clock(FaultKind::ClockDrift, "ran at the wrong rate", "from");
    let holder = scene.holder.process;
    match scene.replaced_by_clock(FaultKind::ClockDrift) {
        Some(by) => format!(
            "{clock}, so the lease of {holder} expired earlier by the clock of {by} than by the \
             clock of {holder}."
        ),
        None => format!(
            "{clock}, so the lease of {holder} expired earlier by the server's clock than by the \
             holder's."
        ),
    }
}
