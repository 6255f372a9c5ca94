use super::entry::Entry;
use crate::explain::evidence::Case;
use crate::explain::scene::Scene;

pub(super) static ENTRY: Entry = Entry {
    how: "An acquire that failed or was abandoned left its renewal running, or a holder that lost \
          the lock renews the next holder's lease.",
    helps: "Compare the owner and set the expiry in one script. Start the renewal only after the \
            lock was granted, and stop it on every path out.",
    between: Some(between),
    alone: Some(alone),
    is_of_lock_code: true,
    ..Entry::PLAIN
};

fn alone(case: &Case<'_, '_>) -> String {
    match case.set_again() {
        Some((by, 1, at)) => {
            format!("{by} set the lock again at {at}, after it had left its critical section.")
        }
        Some((by, times, from)) => {
            format!(
                "{by} set the lock {times} times from {from} on, after it had left its critical \
                 section."
            )
        }
        None => "A process outside its critical section keeps renewing the lock.".to_owned(),
    }
}

fn between(scene: &Scene<'_, '_>) -> String {
    let holder = scene.holder.process;
    if let Some((by, at)) = scene.renewed_over() {
        return format!(
            "At {at} {by}, which no longer held the lock, renewed its own lease, and the renewal \
             replaced the lock of {holder}."
        );
    }
    let Some((by, set)) = scene.last_set_by_another() else { return String::new() };
    let lease = scene.timeline.lease_asked(set).unwrap_or(scene.ttl());
    format!(
        "At {} {by}, which did not hold the lock, set the lease of {holder} to {lease}, so that \
         lease expired early.",
        set.time
    )
}
