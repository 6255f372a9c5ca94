use super::entry::Entry;
use crate::explain::scene::Scene;

pub(super) static ENTRY: Entry = Entry {
    how: "A follower answers reads from its own copy, which may be older than the leader's.",
    helps: "Sync before the read, or use a fencing token that the storage checks.",
    between: Some(between),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "A server that lagged behind told {} that it was first in the queue, although its node had \
         already been deleted.",
        scene.holder.process
    )
}
