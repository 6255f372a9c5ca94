//! The holder's own command removed the lock.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "The holder's own command removed the lock while the holder still relied on it.",
    how: "A nested release, a release by another thread of the same process, an acquire that \
          removes what it finds, or a holder that removes its lock in order to take it again.",
    helps: "Count nested acquisitions at the server. Give each thread its own owner value. Extend a \
            lease by one command that compares the owner and sets the expiry, not by a release and \
            an acquire.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let holder = scene.holder.process;
    let Some((gone, _)) = scene.gone() else {
        return format!("A command of {holder} itself had removed its lock.");
    };
    let at = gone.time;
    match scene.holder.completed.is_some_and(|entered| gone < entered) {
        true => format!(
            "A command of {holder} itself removed its lock at {at}, before {holder} entered its \
             section."
        ),
        false => format!(
            "A command of {holder} itself removed its lock at {at}, while {holder} was in its \
             section."
        ),
    }
}
