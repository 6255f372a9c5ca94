use super::entry::{Entry, Measure, Need};
use crate::explain::scene::Scene;
use crate::judge::timeline::KeyEnd;
use crate::record::history::Change;
use fencepost_faults::{FaultKind, Node};

pub(super) static ENTRY: Entry = Entry {
    how: "A forward step, by an operator or by a time server that corrects a large error, ends \
          leases early. Redis expires keys by the wall clock; memcached uses a clock that is not \
          stepped.",
    helps: "Let time servers slew clocks instead of stepping them. Fencing tokens prevent the \
            remaining damage.",
    needs: &[Need::Fault(FaultKind::ClockJump)],
    between: Some(between),
    measure: Some(Measure::ClockStep),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let clock = scene.clock(FaultKind::ClockJump, "was stepped", "at");
    let holder = scene.holder.process;
    if let Some(by) = scene.replaced_by_clock(FaultKind::ClockJump) {
        return format!("{clock}, so {by} replaced the lock of {holder} too early.");
    }
    let expired = scene
        .gone()
        .filter(|(_, how)| matches!(how, KeyEnd::Changed { change: Change::Expired, .. }));
    let server = expired.map(|(at, _)| scene.timeline.history.events[at.index].node);
    let stepped = scene.wrong_clock(FaultKind::ClockJump);
    match server.zip(stepped) {
        // Redis replicates the end of a lease as an absolute time by the primary's clock. Another
        // server compares this time with its own clock.
        Some((server @ Node::Redis(_), fault)) if !fault.names(server) => format!(
            "{clock}. {server} compared the end of the lease, a time by that clock, with its own \
             clock, so the lock of {holder} expired too early."
        ),
        _ => format!("{clock}, so the lock of {holder} expired too early."),
    }
}
