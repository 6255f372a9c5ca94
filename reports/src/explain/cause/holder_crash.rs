//! The holder crashed.

use super::entry::{Entry, Need};
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    needs: &[Need::DeadProcess],
    alone: Some(|_| "A process died, and its lock at the server stood on.".to_owned()),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The holder died, and nothing freed its lock.",
    how: "The key has no expiry, or a long one, or the process died between the command that takes \
          the lock and the one that sets its expiry.",
    helps: "Take the lock and set its expiry in one command. On Redis: SET key value NX PX ttl; on \
            memcached: add with an expiry.",
};
