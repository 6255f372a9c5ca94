use super::entry::Entry;
use crate::explain::scene::Scene;

pub(super) static ENTRY: Entry = Entry {
    how: "Up to version 3.4, etcd's server-side lock and its Go client's mutex grant the lock as \
          soon as no older key is left, without checking that the waiter's own key still exists \
          (etcd issue 11456, found by Jepsen in 3.4.3).",
    helps: "Use etcd 3.5, which checks the key. A lease can still end right after the check, and a \
            holder can be paused. To prevent damage in both cases, send the create revision of the \
            key to the storage as a fencing token.",
    between: Some(between),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let waiter = if scene.holder.grant.is_none() { scene.holder } else { scene.taker };
    let waiter = waiter.process;
    format!(
        "The lease of {waiter} ended while it waited, and its key was deleted; {waiter} was still \
         granted the lock when no older key was left."
    )
}
