//! Digests of histories, to compare runs.

use crate::record::history::{History, What};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256, in hex, of one line per digested event. A line is the JSON array
/// `[sequence, time_us, node, what]` without `lease_us`, and `sequence` counts the digested events
/// from 0.
pub fn digest(history: &History) -> String {
    let mut hasher = Sha256::new();
    let mut line = Vec::with_capacity(256);
    let digested = history.events.iter().filter(|event| event.what.is_digested());
    for (sequence, event) in digested.enumerate() {
        line.clear();
        let what = without_lease(&event.what);
        serde_json::to_writer(&mut line, &(sequence, event.time_us, event.node, &*what))
            .expect("an event has neither maps with strange keys nor floats");
        line.push(b'\n');
        hasher.update(&line);
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Removes the lease, which histories of version 1 do not contain.
fn without_lease(what: &What) -> Cow<'_, What> {
    match what {
        What::Server { lease_us: Some(_), .. } => {
            let mut what = what.clone();
            if let What::Server { lease_us, .. } = &mut what {
                *lease_us = None;
            }
            Cow::Owned(what)
        }
        what => Cow::Borrowed(what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::story::Story;
    use fencepost_faults::Node;

    fn story() -> Story {
        Story::new().takes(1, 1, "a").reads(2, 1, 0).writes(3, 1, 0, 1).releases(4, 1)
    }

    #[test]
    fn the_digest_of_one_event_is_that_of_its_line() {
        // Computed by `printf '[0,3000,"client-1",{"event":"lost"}]\n' | sha256sum`.
        assert_eq!(
            digest(&Story::new().loses(3, 1).build()),
            "9bcb05aad3cb08c9eeeb9ca6c9ced7d58926e73f25b98789b02c150f3ce3c769"
        );
    }

    #[test]
    fn faults_and_phases_do_not_show() {
        let told = story().faulted(2..3, 1, "pause", &[Node::Client(1)]);
        assert_eq!(digest(&told.healed(5).build()), digest(&story().build()));
    }

    #[test]
    fn leases_do_not_show() {
        assert_eq!(digest(&story().with_recorded_leases().build()), digest(&story().build()));
    }

    #[test]
    fn the_header_does_not_show() {
        assert_eq!(digest(&story().under("pause").build()), digest(&story().build()));
    }

    #[test]
    fn every_operation_grant_and_storage_answer_shows() {
        let whole = story().build();
        for missing in 0..whole.events.len() {
            let mut history = whole.clone();
            history.events.remove(missing);
            assert_ne!(digest(&history), digest(&whole), "event {missing}");
        }
    }

    #[test]
    fn time_shows() {
        let mut later = story().build();
        later.events[0].time_us.0 += 1;
        assert_ne!(digest(&later), digest(&story().build()));
    }
}
