//! Cause `async-replication-loss`: the write of a grant or release never reached a server.

use super::entry::{Entry, Measure};
use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    between: Some(between),
    alone: Some(alone),
    measure: Some(Measure::ReplicationLag),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The server that granted the lock a second time had never received the first grant, or \
           had discarded it in a resynchronisation.",
    how: "Replication is asynchronous: the primary answers before its replicas have the write, \
          and a failover promotes one of them.",
    helps: "WAIT after the grant only makes the loss rarer. Use a majority of independent masters, \
            or fencing tokens from a store that does not lose them.",
};

fn alone(case: &Case<'_, '_>) -> String {
    let said = match case.lacks_expiry() {
        true => {
            "The expiry of the lock was set at the old primary, but the promoted server never \
             received that command: replication is asynchronous."
        }
        false => {
            "The lock had been released, but the promoted server never received the release: \
             replication is asynchronous."
        }
    };
    said.to_owned()
}

fn between(scene: &Scene<'_, '_>) -> String {
    let ([holder, taker], held_at, taken_at) = (scene.both(), scene.held_at(), scene.taken_at());
    if held_at != taken_at {
        return format!(
            "{held_at} had granted the lock to {holder}. Replication is asynchronous, so {taken_at} \
             had not received that grant when it granted the lock to {taker}."
        );
    }
    if scene.kind == Kind::ForeignRelease {
        return format!(
            "{holder} had been granted the lock by {held_at}, which a failover had replaced; the \
             release of {holder} removed the lock at another server."
        );
    }
    match scene.timeline.history.header.has_members() {
        true => format!("{held_at} discarded its grant when it ceased to be the grantor."),
        false => {
            format!("{held_at} discarded its grant when it resynchronised with another primary.")
        }
    }
}
