//! A server restarted without the counter of tokens.

use super::entry::{Entry, Measure, Need};
use crate::judge::meaning::Meaning;
use crate::record::history::Change;

pub(super) static ENTRY: Entry = Entry {
    needs: &[Need::DeadServer, Need::Change(Change::Forgotten)],
    between: Some(|scene| format!("{} restarted without its token counter.", scene.held_at())),
    measure: Some(Measure::Absence),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A server restarted without the counter that issues fencing tokens.",
    how: "It has no persistence, or syncs its file only every second.",
    helps: "Take tokens from a durable store. On Redis: appendfsync always on the server that \
            holds the counter; memcached cannot keep a counter.",
};
