//! The holder stood still.

use super::entry::{Entry, Measure, Step, at};
use crate::explain::evidence::{HeldUp, OnItsWay};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;
use crate::judge::timeline::FaultSpan;
use crate::record::history::Header;
use fencepost_faults::{FaultKind, Impact};

pub(super) static ENTRY: Entry = Entry {
    rules: &[
        at(Step::Held, 10, |case| case.held().is_some_and(|held| held.stood_still())),
        at(Step::InFlight, 20, |case| case.is_on_its_way(OnItsWay::OfOneWhoStoodStill)),
        at(Step::Overrun, 10, |case| case.overrun().is_some_and(|overrun| overrun.stood_still())),
        at(Step::Astray, 10, |case| case.held_up() == Some(HeldUp::AtItsProcess)),
    ],
    between: Some(between),
    alone: Some(alone),
    measure: Some(Measure::Pause),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The holder's host stood still while its lease ran out.",
    how: "Garbage collection, a suspended virtual machine, a stopped container, or a stall of \
          the disk: the process cannot tell, and goes on as if it still held the lock.",
    helps: "Fencing tokens that the storage checks. A longer lease only makes it rarer; looking \
            at the clock before a write does not help, because the pause can come after the \
            look.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let (timeline, holder) = (scene.timeline, scene.holder);
    let from = holder.grant.as_ref().map_or(holder.invoked, |grant| grant.moment).time;
    let freezes = |fault: &&FaultSpan<'_>| fault.does(Impact::Freezes, holder.process);
    let pauses = timeline.faults.iter().filter(freezes);
    let longest = pauses.max_by_key(|fault| fault.within(from, scene.at));
    let holder = holder.process;
    let Some(fault) = longest else { return format!("{holder} stood still.") };
    let stood_still = match fault.kind {
        FaultKind::Suspend => "was suspended, its monotonic clock with it,",
        _ => "stood still",
    };
    let what = match timeline.history.header.lives_with_session {
        true => format!("{} ended", timeline.history.header.place().1),
        false => format!("lease of {} ran out", scene.ttl()),
    };
    let length = fault.to.map_or(timeline.end, |to| to.time).since(fault.from.time);
    format!(
        "{holder} {stood_still} for {length} from {} on, and its {what} unnoticed.",
        fault.from.time
    )
}

fn alone(kind: Kind, _: &Header) -> String {
    let said = match kind {
        Kind::HeldForever => "It stood still most of the time, and its lock did not run out.",
        _ => MEANING.what,
    };
    said.to_owned()
}
