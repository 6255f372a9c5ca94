//! Another process removed the lock.

use super::entry::{Entry, LossRule, Reach};
use crate::explain::evidence::Remover;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    loss: Some(LossRule {
        turn: 30,
        reach: Reach::Replicas,
        holds: |_, loss| matches!(loss.remover(), Some(Remover::Process(_))),
    }),
    between: Some(|scene| {
        format!("Another process had removed the lock of {}.", scene.holder.process)
    }),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "Another process removed the lock.",
    how: "A release deletes the key without comparing its value, or compares and deletes in two \
          commands.",
    helps: "A random value for each acquisition, and a release by a script that compares and \
            deletes at once.",
};
