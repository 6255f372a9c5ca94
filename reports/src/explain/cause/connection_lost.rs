//! The connection of a process ended.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;
use crate::judge::timeline::KeyEnd;
use crate::record::history::Change;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "The connection on which a process had the lock, or waited for it, ended without a word \
           to the process.",
    how: "A lock of a session or of a transaction lasts as long as its connection. That ends when \
          the server restarts, when the server ends an idle transaction, or when the network or a \
          proxy drops it. Nobody tells the process: one that works sends nothing, and one that \
          waits in the queue of a server that lost power waits for an answer until its own \
          timeout.",
    helps: "Write to what the lock guards on the same connection, in the transaction that has the \
            lock: then the write fails with it. Otherwise fencing tokens that the storage checks. \
            For those who wait, keepalives, or short waits that begin again.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let (holder, held_at) = (scene.holder.process, scene.held_at());
    match scene.gone() {
        Some((_, KeyEnd::Changed { change: Change::Forgotten, .. })) => format!(
            "{held_at} restarted: the connection of {holder} ended, and the lock that it had on \
             it, while {holder} was in its section."
        ),
        _ => format!(
            "{held_at} ended the connection of {holder}, and the lock that it had on it, while \
             {holder} was in its section."
        ),
    }
}
