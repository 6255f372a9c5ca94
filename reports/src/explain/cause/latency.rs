//! The answer of a server was late.

use super::entry::{Entry, Measure};
use crate::explain::evidence::{Case, Misheard, Obstacle};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    between: Some(between),
    alone: Some(alone),
    measure: Some(Measure::Latency),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The answer of a server was late: most of the lease was over, or its client had given up.",
    how: "The client counts its lease from the answer instead of the request, or takes a command \
          whose answer is late for one that failed.",
    helps: "Count the validity from the moment before the request was sent, as Redlock does. Wait \
            for an answer for longer than the network takes, and make commands safe to repeat.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "The answer that {} was granted the lock came so late that {} was over.",
        scene.holder.process,
        scene.spent()
    )
}

fn alone(case: &Case<'_, '_>) -> String {
    let said = match case.finding.kind {
        Kind::WrongAnswer if case.is_misheard(Misheard::Late(Obstacle::Delay)) => {
            "Messages to or from a server were late while the call was open, and the lock did not \
             look at how long it had waited."
        }
        Kind::WrongAnswer => {
            "Messages to or from a server were late while the call was open, and its client did not \
             wait for the answer."
        }
        _ => "Messages to or from a server were late, or answered a client that had given up.",
    };
    said.to_owned()
}
