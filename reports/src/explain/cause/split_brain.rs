//! Cause `split-brain`: two servers acted as primary at the same time.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry { between: Some(between), ..Entry::new(MEANING) };

const MEANING: Meaning = Meaning {
    what: "Two servers acted as primary at the same time, and each granted the lock.",
    how: "A partitioned primary keeps accepting writes until it learns that a replica was \
          promoted.",
    helps: "min-replicas-to-write with a small min-replicas-max-lag limits the duration. Fencing \
            tokens must come from a store that cannot split.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let ([holder, taker], held_at, taken_at) = (scene.both(), scene.held_at(), scene.taken_at());
    let [first, second] = [scene.holder, scene.taker].map(|one| {
        let grant = one.grant.as_ref()?;
        scene.timeline.roles.promoted(grant.node, grant.moment)
    });
    let primaries = match (first, second) {
        (first, Some(at)) if first < Some(at) => {
            format!("{taken_at} was promoted at {} while {held_at} still acted as primary", at.time)
        }
        (Some(at), _) => {
            format!("{held_at} was promoted at {} while {taken_at} still acted as primary", at.time)
        }
        _ => format!("{held_at} and {taken_at} both acted as primary"),
    };
    format!(
        "{primaries}: {held_at} granted the lock to {holder}, and {taken_at} granted it to \
             {taker}."
    )
}
