//! The holder's own command removed the lock.

use super::entry::{Entry, LossRule, Reach};
use crate::explain::evidence::Remover;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    loss: Some(LossRule {
        turn: 60,
        reach: Reach::Replicas,
        holds: |_, loss| loss.remover() == Some(Remover::Itself) && loss.is_in_use(),
    }),
    between: Some(between),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The holder's own command removed the lock while the holder was still in its section.",
    how: "A nested release, or a release by another thread of the same process.",
    helps: "Count nested acquisitions at the server, and give each thread an owner value of its \
            own.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let holder = scene.holder.process;
    format!("A command of {holder} itself had removed its lock while it was in its section.")
}
