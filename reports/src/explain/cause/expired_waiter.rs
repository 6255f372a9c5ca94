use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;
use crate::judge::timeline::Acquisition;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "A waiting process was granted the lock after its lease had ended and its key had been \
           deleted from the queue.",
    how: "Up to version 3.4, etcd's server-side lock and its Go client's mutex grant the lock as \
          soon as no older key is left, without checking that the waiter's own key still exists \
          (etcd issue 11456, found by Jepsen in 3.4.3).",
    helps: "Use etcd 3.5, which checks the key. A lease can still end right after the check, and a \
            holder can be paused. To prevent damage in both cases, send the create revision of the \
            key to the storage as a fencing token.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let is_first = |one: &Acquisition<'_>| one.grant.is_some();
    let waiter = match is_first(scene.holder) && !is_first(scene.taker) {
        true => scene.taker.process,
        false => scene.holder.process,
    };
    if is_first(scene.holder) && is_first(scene.taker) {
        return format!(
            "{waiter} was paused for as long as its key was the first in the queue, and the \
             servers deleted the key with its lease. {waiter} entered without looking for the key."
        );
    }
    format!(
        "The lease of {waiter} ended while it waited, and its key was deleted; {waiter} was still \
         granted the lock when no older key was left."
    )
}
