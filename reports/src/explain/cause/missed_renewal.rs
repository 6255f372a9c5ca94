use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::timeline::FaultSpan;
use crate::record::history::What;
use fencepost_faults::{FaultKind, Micros, Node, SimTime};

pub(super) static ENTRY: Entry = Entry {
    how: "The renewing thread was paused with its process, the network was partitioned or lost the \
          request, or the server was down or had become a replica.",
    helps: "Stop working when a renewal fails, and use fencing tokens: the process may notice the \
            failure too late.",
    is_beyond_leases: true,
    between: Some(between),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "The lock renews its lease, but in the {} before the lease expired, no renewal from {} \
         took effect{}.{}",
        scene.lease(),
        scene.holder.process,
        elsewhere(scene),
        cut(scene).or_else(|| without_primary(scene)).unwrap_or_default()
    )
}

/// Names the server that granted the lock to the next process, unless the same server granted it to
/// the holder. The name matters because renewals may have taken effect at another server.
fn elsewhere(scene: &Scene<'_, '_>) -> String {
    let nodes = [scene.holder, scene.taker].map(|one| one.grant.as_ref().map(|grant| grant.node));
    match nodes {
        [Some(held), Some(taken)] if held != taken => format!(" at {taken}"),
        _ => String::new(),
    }
}

fn without_primary(scene: &Scene<'_, '_>) -> Option<String> {
    let ends = scene.lease_ends()?;
    let began = SimTime(ends.0.saturating_sub(scene.lease().0));
    let without = scene.timeline.roles.without_primary(began, ends);
    (without > Micros::ZERO)
        .then(|| format!(" No server was a primary for {without} of that time."))
}

fn cut(scene: &Scene<'_, '_>) -> Option<String> {
    let (holder, ends) = (scene.holder, scene.lease_ends()?);
    let (process, server) = (holder.process, holder.grant.as_ref()?.node);
    let mut cuts = scene.timeline.faults.iter().rev().filter(|fault| {
        fault.kind == FaultKind::Partition && fault.names(process.machine()) && fault.names(server)
    });
    let began = SimTime(ends.0.saturating_sub(scene.lease().0));
    // A partition did not separate them if the server executed a command of the process.
    let answers = |cut: &FaultSpan<'_>| {
        let span = &scene.timeline.history.events[cut.from.index..];
        let until = cut.to.map_or(ends, |to| to.time);
        span.iter().take_while(|event| event.time_us < until).any(|event| {
            let is_own = |by: Node| by.machine() == process.machine();
            event.node == server
                && matches!(event.what, What::Server { by: Some(by), .. } if is_own(by))
        })
    };
    let cut = cuts.find(|cut| cut.touches(began, ends) && !answers(cut))?;
    let until = cut.to.map_or("the end of the run".to_owned(), |to| to.time.to_string());
    let from = cut.from.time;
    Some(format!(" A partition separated {process} and {server} between {from} and {until}."))
}
