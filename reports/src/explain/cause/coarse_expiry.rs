use super::entry::Entry;
use crate::explain::scene::Scene;

pub(super) static ENTRY: Entry = Entry {
    how: "memcached reads its clock once a second. A lease of ten seconds ends at the tenth \
          reading, after nine to ten seconds.",
    helps: "Request a lease that is one second longer than needed.",
    between: Some(between),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "{} counts leases in whole seconds, so a lock can expire up to a second early: the lock of \
         {} expired before its ttl of {} had passed.",
        scene.held_at(),
        scene.holder.process,
        scene.ttl()
    )
}
