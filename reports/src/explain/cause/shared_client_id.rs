//! Processes share one client id.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "Processes have one client id, and one found the lock of another its own.",
    how: "The client id was set to the name of the application, or of the host, and not left to be \
          drawn; the statement that takes the lock lets in whoever has the id in the row.",
    helps: "An id that no other process has: a random one for each start, as is the library's \
            default.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    format!(
        "{holder} and {taker} have one client id, so that each finds the row of the other its own."
    )
}
