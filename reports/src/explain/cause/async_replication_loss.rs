use super::entry::{Entry, Measure};
use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use fencepost_faults::Node;

pub(super) static ENTRY: Entry = Entry {
    how: "Replication is asynchronous: the primary answers before its replicas have the write, \
          and a failover promotes one of them.",
    helps: "WAIT after the grant only makes the loss rarer. Use a majority of independent masters, \
            or fencing tokens from a store that does not lose them.",
    is_of_failover: true,
    between: Some(between),
    alone: Some(alone),
    measure: Some(Measure::ReplicationLag),
    ..Entry::PLAIN
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

/// Returns a process that entered without a grant, and a server that then had a copy of the
/// process's earlier lock.
fn let_in_by_a_copy(scene: &Scene<'_, '_>) -> Option<(Node, Node)> {
    let timeline = scene.timeline;
    [scene.holder, scene.taker].into_iter().filter(|one| one.grant.is_none()).find_map(|told| {
        let entered = told.completed?;
        let mut copies = timeline.keys.iter().filter(|span| {
            span.by.is_none()
                && timeline.exists_at(span, entered)
                && timeline.is_lock_of(span, told)
        });
        copies.next().map(|span| (told.process, span.node))
    })
}

fn between(scene: &Scene<'_, '_>) -> String {
    let ([holder, taker], held_at, taken_at) = (scene.both(), scene.held_at(), scene.taken_at());
    if let Some((told, copy_at)) = let_in_by_a_copy(scene) {
        return format!(
            "Replication is asynchronous, so {copy_at} still had an earlier lock of {told}, and \
             {told} took it for a new grant."
        );
    }
    if scene.expired_as_first_set() {
        return format!(
            "{held_at} had extended the lease of {holder}. Replication is asynchronous, so {taken_at} \
             had not received the extension; it expired the lock and granted it to {taker}."
        );
    }
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
