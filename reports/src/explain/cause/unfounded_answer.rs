//! Cause `unfounded-answer`: the lock's own code returned an answer that no server had given.

use super::entry::Entry;
use crate::explain::evidence::{Case, Standstill};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry =
    Entry { between: Some(between), alone: Some(alone), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "The lock's own code gave its caller an answer that no server had given: that it got the \
           lock, did not get it, lost it, or released it.",
    how: "It swallowed a server error, or it gave up and returned, and the caller did not check \
          the result.",
    helps: "Let errors through. Check the result of acquire, or use a lock whose acquire raises an \
            error when it gives up.",
};

fn alone(case: &Case<'_, '_>) -> String {
    let said = match case.finding.kind {
        Kind::WrongAnswer if case.is_of_a_grant() => {
            "No server had said so: the lock's own code gave that answer."
        }
        Kind::WrongAnswer => {
            "No fault delayed or lost messages between the process and the server meanwhile: the \
             lock's own code gave that answer."
        }
        _ if case.is_at(Standstill::OwnerReleased) => {
            "A process was told that it had released the lock, but its key remained at the server \
             without an expiry."
        }
        _ => {
            "A server had granted the lock to a process whose acquire reported no lock, although \
             no fault was active meanwhile, and the lock remained there."
        }
    };
    said.to_owned()
}

fn between(scene: &Scene<'_, '_>) -> String {
    if scene.holder.grant.is_none() && scene.taker.grant.is_none() {
        return "Both were told that they had the lock, although no server had granted it to either \
                in that acquire: the lock's own code gave those answers."
            .to_owned();
    }
    let told = if scene.holder.grant.is_none() { scene.holder } else { scene.taker };
    format!(
        "{} was told that it had the lock, although no server had granted it in that acquire: the \
         lock's own code gave that answer.",
        told.process
    )
}
