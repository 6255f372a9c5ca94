//! Cause `shared-owner`: threads share an owner value, and a server mistook one thread for another.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "Threads of one process share an owner value, and a server mistook one thread for \
           another.",
    how: "The value identifies the process or the host, not the acquisition.",
    helps: "Use a random value for each acquisition, or one for each thread.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    let (machine, gone) = (holder.machine(), scene.gone());
    if let Some((gone, _)) = gone.filter(|_| machine != taker.machine()) {
        return format!(
            "The release of another thread of {machine} removed the lock of {holder} at {}: both \
             threads share an owner value.",
            gone.time
        );
    }
    format!("{holder} and {taker} share an owner value, and the server mistook one for the other.")
}
