//! The lease of a process ended while it waited.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "A process that waited for the lock was granted it though its lease had ended, and its \
           key had gone from the queue.",
    how: "Whoever grants the lock waits until nobody is in front, and does not look whether the \
          key that waited is still there: etcd's server-side lock and the mutex of its Go client \
          up to 3.4 (etcd issue 11456, found by Jepsen in 3.4.3).",
    helps: "etcd 3.5, which looks for the key. A lease can end right after that look: against \
            this, and against a holder that stands still, show the storage the create revision of \
            the key as a fencing token.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let waiter = if scene.holder.grant.is_none() { scene.holder } else { scene.taker };
    let waiter = waiter.process;
    format!(
        "The lease of {waiter} ended while it waited, and its key went with it; when everybody in \
         front was gone {waiter} was told all the same that it has the lock."
    )
}
