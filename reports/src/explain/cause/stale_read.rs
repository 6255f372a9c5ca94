use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    how: "A follower answers reads from its own copy, which may be older than the leader's.",
    helps: "Sync before the read, or use a fencing token that the storage checks.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "A server that lagged behind told {} that it was first in the queue, although its node had \
         already been deleted.",
        scene.holder.process
    )
}
