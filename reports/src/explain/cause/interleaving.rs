//! The steps of processes interleaved.

use super::entry::Entry;
use crate::explain::scene::Scene;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    between: Some(between),
    alone: Some(|_| {
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
