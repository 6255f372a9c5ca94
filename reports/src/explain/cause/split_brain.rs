use super::entry::Entry;
use crate::explain::evidence::is_of_members;
use crate::explain::scene::Scene;
use crate::judge::timeline::{Acquisition, Grant, Moment};
use crate::record::history::{Event, What};
use fencepost_faults::{Node, SimTime};

pub(super) static ENTRY: Entry = Entry {
    how: "A primary that was partitioned or has restarted accepts writes until it learns that a \
          replica was promoted.",
    helps: "min-replicas-to-write with a small min-replicas-max-lag limits the duration. Fencing \
            tokens must come from a store that cannot split.",
    is_of_failover: true,
    between: Some(between),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let ([holder, taker], held_at, taken_at) = (scene.both(), scene.held_at(), scene.taken_at());
    if let Some((server, at)) = scene.extended_elsewhere() {
        return extended(scene, server, at);
    }
    if is_of_members(scene.timeline) {
        return format!(
            "{held_at} still had the lock of {holder} when {taken_at}, the new grantor, granted it \
             to {taker}."
        );
    }
    let [first, second] = [scene.holder, scene.taker].map(|one| {
        let grant = one.grant.as_ref()?;
        scene.timeline.roles.promoted(grant.node, grant.moment)
    });
    let primaries = match (first, second) {
        (first, Some(at)) if first < Some(at) => promoted(scene, [scene.taker, scene.holder], at),
        (Some(at), _) => promoted(scene, [scene.holder, scene.taker], at),
        _ => format!("{held_at} and {taken_at} both acted as primary"),
    };
    format!(
        "{primaries}: {held_at} granted the lock to {holder}, and {taken_at} granted it to \
             {taker}."
    )
}

fn extended(scene: &Scene<'_, '_>, server: Node, at: Moment) -> String {
    let ([holder, taker], taken_at) = (scene.both(), scene.taken_at());
    let granted = scene.taker.grant.as_ref();
    let there = granted.and_then(|grant| scene.timeline.roles.promoted(grant.node, grant.moment));
    let here = scene.timeline.roles.promoted(server, at);
    let (new, old, promoted) = match there.filter(|there| here < Some(*there)) {
        Some(there) => (taken_at.clone(), server.to_string(), there),
        None => (server.to_string(), taken_at.clone(), here.unwrap_or(at)),
    };
    format!(
        "{new} was promoted at {} while {old} still acted as primary. {server} extended the lock \
         of {holder} at {}, but {taken_at} did not: it expired the lock and granted it to {taker}.",
        promoted.time, at.time
    )
}

fn promoted(scene: &Scene<'_, '_>, [new, old]: [&Acquisition<'_>; 2], at: Moment) -> String {
    let server = |one: &Acquisition<'_>| {
        one.grant.as_ref().map_or("the server".to_owned(), |grant| grant.node.to_string())
    };
    let (new, time) = (server(new), at.time);
    match old.grant.as_ref().and_then(|grant| started_after(scene, grant, at)) {
        Some(started) => format!(
            "{new} was promoted at {time}, and {} restarted at {started} and still acted as primary",
            server(old)
        ),
        None => {
            format!("{new} was promoted at {time} while {} still acted as primary", server(old))
        }
    }
}

/// Returns when the granting server restarted, if it was down when another server was promoted.
fn started_after(scene: &Scene<'_, '_>, grant: &Grant, promoted: Moment) -> Option<SimTime> {
    let events = &scene.timeline.history.events;
    let is_own = |event: &&Event| {
        event.node == grant.node && matches!(event.what, What::Crashed | What::Started)
    };
    let before = events[..promoted.index].iter().rfind(is_own)?;
    let mut later = events[promoted.index..].iter().take_while(|one| one.time_us <= scene.at);
    let started = later.find(is_own).filter(|event| matches!(event.what, What::Started))?;
    matches!(before.what, What::Crashed).then_some(started.time_us)
}
