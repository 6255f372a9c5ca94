//! The lock's own code returned an answer that no server had given.

use super::entry::Entry;
use crate::explain::evidence::{Case, Standstill};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry =
    Entry { between: Some(between), alone: Some(alone), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "The lock's own code told its caller what no server had said: that it has the lock, that \
           it does not or no longer, or that it has given it back.",
    how: "It swallowed an error of the server, or it gave up and returned, and the caller did not \
          look at what it returned.",
    helps: "Let errors through. Look at what acquire returns, or take a lock whose acquire raises \
            an error when it gives up.",
};

fn alone(case: &Case<'_, '_>) -> String {
    let said = match case.finding.kind {
        Kind::WrongAnswer if case.is_of_a_grant() => {
            "No server had said so: the lock's own code gave that answer."
        }
        Kind::WrongAnswer => {
            "No fault held up or lost what the process and the server sent each other meanwhile: \
             the lock's own code gave that answer."
        }
        _ if case.is_at(Standstill::OwnerReleased) => {
            "A process was told that it had given the lock back, but its key stood on at the \
             server, without an expiry."
        }
        _ => {
            "A server had granted the lock to a process whose acquire came back without it, though \
             no fault was at work meanwhile, and the lock stood on there."
        }
    };
    said.to_owned()
}

fn between(scene: &Scene<'_, '_>) -> String {
    if scene.holder.grant.is_none() && scene.taker.grant.is_none() {
        return "Both were told that they have the lock, though no server had granted it to either in \
                that acquire: the lock's own code gave those answers."
            .to_owned();
    }
    let told = if scene.holder.grant.is_none() { scene.holder } else { scene.taker };
    format!(
        "{} was told that it has the lock, though no server had granted it in that acquire: the \
         lock's own code gave that answer.",
        told.process
    )
}
