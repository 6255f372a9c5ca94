//! A failover made another server the primary.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "A failover made another server the primary, and what a connection has is not \
           replicated.",
    how: "A primary keeps advisory locks and locks of rows in its memory: they are no data, and no \
          replica gets them, be it synchronous. The server that is promoted has none of them and \
          grants the lock to the next who asks, while the holder goes on.",
    helps: "Keep the lock in a row that a synchronous replica has before the commit is answered. \
            Or write to what the lock guards on the same connection, in the transaction that has \
            the lock: then the write fails with it. Otherwise fencing tokens that the storage \
            checks.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let (holder, held_at, taken_at) = (scene.holder.process, scene.held_at(), scene.taken_at());
    format!(
        "{holder} had the lock on its connection with {held_at}. A failover made {taken_at} the \
         primary, which was never told of it: what a connection has is not replicated."
    )
}
