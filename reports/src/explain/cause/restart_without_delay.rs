use super::entry::{Entry, Measure, Need};
use crate::explain::scene::Scene;
use crate::record::history::Change;

pub(super) static ENTRY: Entry = Entry {
    how: "The server has no persistence, or syncs its file only every second.",
    helps: "Keep a restarted server down for longer than the longest lease. On Redis, set \
            appendfsync always; memcached cannot keep grants. Only a server that keeps its data can \
            protect a lock without an expiry.",
    needs: &[Need::DeadServer, Need::Change(Change::Forgotten)],
    between: Some(between),
    measure: Some(Measure::Absence),
    ..Entry::PLAIN
};

fn between(scene: &Scene<'_, '_>) -> String {
    let [holder, taker] = scene.both();
    let early = match (scene.is_taken_within_lease(), scene.lease_set_again()) {
        (false, _) => String::new(),
        (true, None) => format!(" before {holder}'s lease would have ended"),
        (true, Some(set)) => {
            format!(" before {holder}'s lease, last set at {set}, would have ended")
        }
    };
    format!(
        "{} restarted without {holder}'s lock and granted the lock to {taker}{early}.",
        scene
            .servers_without_memory()
            .or_else(|| scene.shared_server())
            .unwrap_or_else(|| scene.taken_at())
    )
}
