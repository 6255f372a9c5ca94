use super::entry::{Entry, Measure, Need};
use crate::explain::scene::Scene;
use crate::record::history::Change;

pub(super) static ENTRY: Entry = Entry {
    how: "The server has no persistence, or syncs its file only every second.",
    helps: "Take tokens from a durable store. On Redis, set appendfsync always on the server that \
            holds the counter; memcached cannot keep a counter.",
    needs: &[Need::DeadServer, Need::Change(Change::Forgotten)],
    between: Some(between),
    measure: Some(Measure::Absence),
    ..Entry::PLAIN
};

/// Only token 1 shows that the server lost the whole counter, and not only its latest value.
fn between(scene: &Scene<'_, '_>) -> String {
    let (servers, is_one) = scene.restarted();
    let counter = if is_one { "its token counter" } else { "the token counter" };
    match scene.taker.token {
        Some(1) => format!("{servers} restarted without {counter}."),
        _ => format!("{servers} restarted without the latest value of {counter}."),
    }
}
