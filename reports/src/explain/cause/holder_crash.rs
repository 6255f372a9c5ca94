//! The holder died.

use super::entry::{Entry, Step, at};
use crate::explain::evidence::Standstill;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    rules: &[at(Step::Standstill, 50, |case| case.is_at(Standstill::OwnerDied))],
    alone: Some(|_, _| "A process died, and its lock at the server stood on.".to_owned()),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The holder died, and nothing freed its lock.",
    how: "The key has no expiry, or a long one, or the process died between the command that takes \
          the lock and the one that sets its expiry.",
    helps: "Take the lock and set its expiry in one command. On Redis: SET key value NX PX ttl; on \
            memcached: add with an expiry.",
};
