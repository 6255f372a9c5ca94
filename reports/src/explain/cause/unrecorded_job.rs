use super::entry::Entry;
use crate::explain::scene::Scene;

pub(super) static ENTRY: Entry = Entry {
    how: "The lock keeps two processes from doing the job concurrently. When the second process \
          checked, no record showed yet that the job was done.",
    helps: "Check under the lock whether the job is done, and record it before releasing the lock. \
            Keep the lock of a scheduled job for at least as long as clocks differ.",
    between: Some(between),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    if holder == taker {
        return format!(
            "{holder} had done the job and released its lock before it was granted the lock again."
        );
    }
    format!("{holder} had done the job and released its lock before {taker} was granted it.")
}
