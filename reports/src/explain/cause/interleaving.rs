//! The steps of processes interleaved.

use super::entry::{Entry, LossRule, Reach, Step, at};
use crate::explain::evidence::Standstill;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Standstill, 80, |case| case.is_at(Standstill::VotesSplit))],
    loss: Some(LossRule { turn: 170, reach: Reach::Server, holds: |_, loss| loss.was_replaced() }),
    between: Some(between),
    alone: Some(|_, _| {
        "Several processes divided the servers among them, gave them back and tried again in step, \
         so that none had a majority."
            .to_owned()
    }),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The steps of two processes interleaved in an order that the protocol does not \
           survive.",
    how: "The protocol needs several commands where it needs one: a check and an act, a read \
          and a write.",
    helps: "One command, one script, or a transaction that watches what it read.",
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    format!("The steps of {holder} and {taker} interleaved; no fault was needed.")
}
