use super::entry::{Entry, Measure, Need};
use crate::judge::meaning::Meaning;
use crate::record::history::Change;

pub(super) static ENTRY: Entry = Entry {
    needs: &[Need::DeadServer, Need::Change(Change::Forgotten)],
    between: Some(|scene| match scene.restarted() {
        (server, true) => format!("{server} restarted without its token counter."),
        (servers, false) => format!("{servers} restarted without the token counter."),
    }),
    measure: Some(Measure::Absence),
    ..Entry::new(MEANING)
};

const MEANING: Meaning = Meaning {
    what: "A server restarted without the counter that issues fencing tokens.",
    how: "The server has no persistence, or syncs its file only every second.",
    helps: "Take tokens from a durable store. On Redis, set appendfsync always on the server that \
            holds the counter; memcached cannot keep a counter.",
};
