use super::entry::Entry;
use crate::explain::evidence::Case;
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use fencepost_faults::Micros;

pub(super) static ENTRY: Entry = Entry {
    how: "The lease was chosen for the usual case, and the lock does not renew it.",
    helps: "Renew the lease during the work, limit the work, or choose a lease longer than the \
            longest work. Fencing tokens prevent the remaining damage.",
    is_beyond_leases: true,
    is_long_work: true,
    between: Some(between),
    alone: Some(alone),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let (holder, lease) = (scene.holder.process, scene.lease());
    let others = scene.other_keys_extended();
    let instead = match others.is_empty() {
        true => String::new(),
        false => format!(" It extended {} instead of the lock.", others.join(", ")),
    };
    format!("{holder} was in its critical section for longer than its lease of {lease}.{instead}")
}

fn alone(case: &Case<'_, '_>) -> String {
    let held = case.held().filter(|held| held.paused > Micros::ZERO);
    let held = held.filter(|_| case.finding.kind == Kind::HeldForever);
    if let Some(held) = held {
        return format!(
            "The holder worked for {}, and was paused for {}.",
            held.worked, held.paused
        );
    }
    match case.finding.kind {
        Kind::HeldForever => "At the bound, the holder was still in its critical section, and its \
                              lock had not expired."
            .to_owned(),
        _ => String::new(),
    }
}
