//! Cause `shared-client-id`: processes share a client id and treat each other's lock as their own.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "Processes share a client id, and one process treated another's lock as its own.",
    how: "The client id was set to the name of the application or of the host instead of a random \
          one. The statement that takes the lock admits every process with the id in the row.",
    helps: "Use an id that no other process has, such as a random id for each start, the library's \
            default.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    format!("{holder} and {taker} share a client id, so each treats the other's row as its own.")
}
