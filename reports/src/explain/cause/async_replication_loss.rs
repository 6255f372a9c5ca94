//! The write that granted or released the lock never reached a server.

use super::entry::{Entry, Measure};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    between: Some(between),
    alone: Some(|_| {
        "The lock had been given back, but the server that was promoted never received that: \
         replication is asynchronous."
            .to_owned()
    }),
    measure: Some(Measure::ReplicationLag),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The server that granted the lock again had never received it, or had discarded it in \
           a resynchronisation.",
    how: "Replication is asynchronous: the primary answers before its replicas have the write, \
          and a failover promotes one of them.",
    helps: "WAIT after the grant makes it rarer, and no more. Use independent masters with a \
            majority, or fencing tokens from a store that does not lose them.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let ([holder, taker], held_at, taken_at) = (scene.both(), scene.held_at(), scene.taken_at());
    if held_at != taken_at {
        return format!(
            "{held_at} had granted {holder}, but {taken_at}, which granted {taker}, never had that \
             write: replication is asynchronous."
        );
    }
    if scene.kind == Kind::ForeignRelease {
        return format!(
            "{holder} had been granted its lock by {held_at}, which a failover had replaced, and \
             released what stood at another server."
        );
    }
    format!("{held_at} discarded what it had granted when it resynchronised with another primary.")
}
