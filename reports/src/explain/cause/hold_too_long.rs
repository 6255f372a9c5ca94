//! The holder worked longer than its lease.

use super::entry::{Entry, Step, at};
use crate::explain::scene::Scene;
use crate::judge::finding::Kind;
use crate::judge::meaning::Meaning;
use crate::record::history::Header;

pub(super) static ENTRY: Entry = Entry {
    rules: &[
        at(Step::Held, 20, |case| case.held().is_some()),
        at(Step::Overrun, 60, |case| case.overrun().is_some_and(|overrun| overrun.is_too_long())),
    ],
    between: Some(between),
    alone: Some(alone),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The holder worked longer than its lease, without any fault.",
    how: "The lease was chosen for the usual case, and the lock does not renew it.",
    helps: "Renew the lease while working, bound the work, or choose a lease above the longest \
            work. Fencing tokens keep the rest from doing damage.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    format!("{} worked longer than its lease of {}.", scene.holder.process, scene.ttl())
}

fn alone(kind: Kind, _: &Header) -> String {
    let said = match kind {
        Kind::HeldForever => "It was at work all the time, and its lock did not run out.",
        _ => MEANING.what,
    };
    said.to_owned()
}
