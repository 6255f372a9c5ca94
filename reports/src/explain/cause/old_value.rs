//! A process computed what it wrote from an older value.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "A process that had the lock to itself computed what it wrote from an older value.",
    how: "It had read the value before it had the lock, or took the reply to an earlier read for \
          that to a later one. The lock has no part in it.",
    helps: "Read under the lock, on a connection with nothing left over from before; or let the \
            storage compare (a version, a conditional write).",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    format!(
        "{taker} had the lock to itself: {holder} had written and left before. {taker} computed \
         what it wrote from an older value."
    )
}
