//! Threads share one owner value.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "Threads of one process have the same owner value, and a server took one for the \
           other.",
    how: "The value names the process or the host and not the acquisition.",
    helps: "A random value for each acquisition, or one for each thread.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    let (machine, gone) = (holder.machine(), scene.gone());
    if let Some((gone, _)) = gone.filter(|_| machine != taker.machine()) {
        return format!(
            "The release of another thread of {machine} removed the lock of {holder} at {}: both \
             threads have one owner value.",
            gone.time
        );
    }
    format!("{holder} and {taker} have one owner value, and the server took the one for the other.")
}
