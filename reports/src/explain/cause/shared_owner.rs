use super::entry::Entry;
use crate::explain::scene::Scene;

pub(super) static ENTRY: Entry = Entry {
    how: "The value identifies the process or the host, or is a constant of the program. It does \
          not identify the acquisition.",
    helps: "Use a random value for each acquisition, or one for each thread.",
    between: Some(between),
    is_of_lock_code: true,
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    let (machine, gone) = (holder.machine(), scene.gone());
    if let Some((gone, _)) = gone.filter(|_| machine != taker.machine() && !scene.is_ungranted()) {
        return format!(
            "The release of another thread of {machine} removed the lock of {holder} at {}: both \
             threads share an owner value.",
            gone.time
        );
    }
    if machine != taker.machine() {
        return format!(
            "{holder} and {taker} share an owner value, so one took the lock of the other for its \
             own."
        );
    }
    format!("{holder} and {taker} share an owner value, and the server mistook one for the other.")
}
