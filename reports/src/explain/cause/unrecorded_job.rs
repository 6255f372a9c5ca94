//! Nothing recorded that a job was done.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "A job was done and its lock given back; the next process that asked for the lock got it \
           and did the job again.",
    how: "The lock keeps two processes from doing the job at once. That it is done is recorded \
          nowhere, or was not yet when the second one looked.",
    helps: "Check under the lock whether the job is done, and record that before the lock is given \
            back. Keep the lock of a scheduled job for at least as long as clocks differ.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    format!("{holder} had done the job and given its lock back before {taker} was granted it.")
}
