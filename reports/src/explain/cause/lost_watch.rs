//! A process was not notified of its turn.

use super::entry::Entry;
use crate::judge::meaning::Meaning;

pub(super) static ENTRY: Entry = Entry {
    alone: Some(|_| {
        "A process waited on when its turn had come: no server kept the watch that would have told \
         it."
        .to_owned()
    }),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "The node of a process that waits is the first of the queue, and nothing tells the \
           process.",
    how: "A watch fires once, at the server where it was set. A client that changes its server \
          and does not set its watches again misses what happens meanwhile.",
    helps: "Set watches again after each reconnect, as the Java client does unless told not to; \
            look at the queue again when the connection comes back; wait with a timeout.",
};
