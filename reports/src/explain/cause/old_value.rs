use super::entry::Entry;
use crate::explain::scene::Scene;

pub(super) static ENTRY: Entry = Entry {
    how: "The process read the value before it had the lock, or mistook the reply to an earlier \
          read for the reply to a later one. The lock is not at fault.",
    helps: "Read under the lock, on a connection without outstanding replies; or let the storage \
            compare a version (a conditional write).",
    between: Some(between),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    format!(
        "{taker} was the only holder: {holder} had already written and left. {taker} computed its \
         write from an older value."
    )
}
