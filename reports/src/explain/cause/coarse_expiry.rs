//! The server counts leases in whole seconds.

use super::entry::{Entry, LossRule, Reach};
use crate::explain::evidence::{Case, Loss, RanOut};
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    loss: Some(LossRule { turn: 160, reach: Reach::Server, holds: ran_out_in_whole_seconds }),
    between: Some(between),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The server counts leases in whole seconds, and this one ended up to a second early.",
    how: "memcached reads its clock once a second, and a lease of ten seconds ends at the tenth \
          reading: after nine to ten seconds.",
    helps: "Ask for one second more than the lease shall last.",
};

/// The last second does not matter to one that had left its section by then, and whose release was
/// held up.
fn ran_out_in_whole_seconds(case: &Case<'_, '_>, loss: &Loss<'_, '_>) -> bool {
    loss.ran_out() == Some(RanOut::InWholeSeconds) && case.held_up().is_none()
}

fn between(scene: &Scene<'_, '_>) -> String {
    format!(
        "{} counts leases in whole seconds, so the lock of {} ran out up to a second before its {} \
         were over.",
        scene.held_at(),
        scene.holder.process,
        scene.ttl()
    )
}
