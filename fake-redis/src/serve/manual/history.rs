use fencepost_machine::{KeyChange, TapEvent};
use std::collections::BTreeMap;

const ENTRIES_MAX: usize = 100_000;

#[derive(Default)]
pub(super) struct History {
    pub(crate) entries: Vec<String>,
    inside: BTreeMap<String, BTreeMap<String, u64>>,
    pub(crate) overlaps: Vec<String>,
}

fn seconds(at_us: u64) -> String {
    format!("{}.{:06}s", at_us / 1_000_000, at_us % 1_000_000)
}

impl History {
    pub(super) fn tap(&mut self, at_us: u64, server: &str, event: &TapEvent) {
        if !event.primary {
            return;
        }
        let verb = match event.change {
            KeyChange::Granted => "sets",
            KeyChange::Extended => "sets the expiry of",
            KeyChange::Removed => "deletes",
            KeyChange::Expired => "expires",
            KeyChange::Evicted => "evicts",
            KeyChange::Flushed => "flushes",
            KeyChange::Discarded => "discards",
            KeyChange::Restored => "loads",
        };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let value = event.value.as_ref().map_or(String::new(), |value| format!(" {}", text(value)));
        self.note(at_us, server, format!("{verb} {}{value}", text(&event.key)));
    }

    pub(super) fn note(&mut self, at_us: u64, who: &str, what: String) {
        if self.entries.len() >= ENTRIES_MAX {
            self.entries.remove(0);
        }
        self.entries.push(format!("{} {who} {what}", seconds(at_us)));
    }

    pub(super) fn enter(&mut self, at_us: u64, lock: &str, client: &str) {
        let inside = self.inside.entry(lock.to_owned()).or_default();
        for (other, since) in inside.iter().filter(|(other, _)| *other != client) {
            self.overlaps.push(format!(
                "{lock}: {client} entered at {} while {other} was inside since {}",
                seconds(at_us),
                seconds(*since)
            ));
        }
        inside.insert(client.to_owned(), at_us);
        self.note(at_us, client, format!("enters {lock}"));
    }

    pub(super) fn leave(&mut self, at_us: u64, lock: &str, client: &str) -> bool {
        let was_inside =
            self.inside.get_mut(lock).is_some_and(|inside| inside.remove(client).is_some());
        if was_inside {
            self.note(at_us, client, format!("leaves {lock}"));
        }
        was_inside
    }
}
