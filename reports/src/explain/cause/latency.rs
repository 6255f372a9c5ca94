//! The answer of a server was late.

use super::entry::{Entry, Measure, Step, at};
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Overrun, 30, |case| {
        case.overrun().is_some_and(|overrun| overrun.was_answered_late())
    })],
    between: Some(between),
    measure: Some(Measure::Latency),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The answer of a server was so late that most of the lease was over.",
    how: "The client counts its lease from the answer in place of the request.",
    helps: "Count the validity from the moment before the request was sent, as Redlock does.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "The answer that {} was granted the lock came so late that most of the lease was over.",
        scene.holder.process
    )
}
