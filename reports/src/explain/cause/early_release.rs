use super::entry::Entry;
use crate::explain::scene::Scene;

pub(super) static ENTRY: Entry = Entry {
    how: "The command was a nested release, a release by another thread of the same process, an \
          acquire that deletes the existing key, or a holder's deletion of its own lock to take it \
          again. Or the program writes after its release.",
    helps: "Count nested acquisitions at the server. Give each thread its own owner value. Extend \
            a lease with one command that compares the owner and sets the expiry, not with a \
            release and an acquire. Release after the last write.",
    between: Some(between),
    is_of_lock_code: true,
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let holder = scene.holder.process;
    if let Some((left, sent)) = scene.wrote_after_leaving() {
        return format!("{holder} released its lock at {left} and sent the write only at {sent}.");
    }
    let Some(gone) = scene.removed_by_holder() else {
        return format!("{holder} had removed its own lock.");
    };
    let at = gone.time;
    match scene.holder.completed.is_some_and(|entered| gone < entered) {
        true => format!(
            "{holder} removed its own lock at {at}, before it entered its critical section."
        ),
        false => {
            format!("{holder} removed its own lock at {at}, while it was in its critical section.")
        }
    }
}
