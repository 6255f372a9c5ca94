//! The lock's own code gave an answer that no server had given.

use super::entry::{Entry, Step, at};
use crate::explain::evidence::Misheard;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    rules: &[
        at(Step::Misheard, 40, |case| case.is_misheard(Misheard::Unfounded)),
        at(Step::Overrun, 200, |case| case.is_entered_ungranted()),
    ],
    between: Some(between),
    alone: Some(|_, _| {
        "No fault held up or lost what the process and the server sent each other meanwhile: the \
         lock's own code gave that answer."
            .to_owned()
    }),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The lock's own code told its caller what no server had said: that it has the lock, that \
           it does not, or that it has given it back.",
    how: "It swallowed an error of the server, or it gave up and returned, and the caller did not \
          look at what it returned.",
    helps: "Let errors through. Look at what acquire returns, or take a lock whose acquire raises \
            an error when it gives up.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let told = if scene.holder.grant.is_none() { scene.holder } else { scene.taker };
    format!(
        "{} was told that it has the lock, though no server had granted it in that acquire: the \
         lock's own code gave that answer.",
        told.process
    )
}
