//! Two servers acted as primary at once.

use super::entry::{Entry, LossRule, Reach, Step, at};
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;
use crate::record::history::What;
use fencepost_faults::Node;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Counter, 40, |case| {
        case.counter().is_some_and(|counter| counter.has_two_primaries())
    })],
    loss: Some(LossRule {
        turn: 110,
        reach: Reach::Server,
        holds: |_, loss| loss.has_two_primaries(),
    }),
    between: Some(between),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "Two servers acted as primary at once, and each of them granted the lock.",
    how: "A primary that was cut off keeps taking writes until it learns that a replica was \
          promoted.",
    helps: "min-replicas-to-write with a small min-replicas-max-lag bounds for how long. \
            Fencing tokens must come from a store that cannot split.",
};

/// Who was promoted is told by what the servers did: a replica followed, and then served.
fn between(scene: &Scene<'_, '_>) -> String {
    let ([holder, taker], held_at, taken_at) = (scene.both(), scene.held_at(), scene.taken_at());
    let [first, second] = [scene.holder, scene.taker].map(|one| {
        let grant = one.grant.as_ref();
        grant.is_some_and(|grant| was_promoted(scene, grant.node))
    });
    let primaries = match (first, second) {
        (true, false) => format!(
            "{held_at}, once a replica, had been promoted, and {taken_at} went on as primary"
        ),
        (false, true) => format!(
            "{taken_at}, once a replica, had been promoted, and {held_at} went on as primary"
        ),
        _ => format!("{held_at} and {taken_at} both acted as primary"),
    };
    format!(
        "{primaries}: {held_at} granted {holder} and {taken_at} granted {taker}, and neither knew \
         of the other."
    )
}

/// Whether a server was seen to follow a primary, and then to be one, before the clash ended.
fn was_promoted(scene: &Scene<'_, '_>, node: Node) -> bool {
    let events = scene.timeline.history.events.iter();
    let before = events.take_while(|event| event.time_us <= scene.at);
    let as_primary = before.filter_map(|event| match &event.what {
        What::Server { primary, .. } if event.node == node => Some(*primary),
        _ => None,
    });
    let as_primary: Vec<bool> = as_primary.collect();
    as_primary.windows(2).any(|pair| !pair[0] && pair[1])
}
