//! A lagging server told a process that it has the lock.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "A server that was behind told a process that it holds the lock.",
    how: "A follower answers reads from what it knows, which may be less than what the leader \
          has decided.",
    helps: "A sync before the read, or a fencing token that the storage checks.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "A server that was behind told {} that it was the first of the queue, when its node was \
         already gone.",
        scene.holder.process
    )
}
