//! Reports changes to keys to the judge of a run. Clients cannot observe these reports.

use crate::data::keyspace::Entry;
use crate::data::number::double_text;
use crate::data::value::Value;
use crate::state::server::Server;
use bytes::Bytes;
use fencepost_machine::{KeyChange, Output, TapEvent};

impl Server {
    fn is_tapped(&self, key: &[u8]) -> bool {
        !self.life.is_loading
            && self.config.tap_prefix.as_ref().is_some_and(|prefix| key.starts_with(prefix))
    }

    pub(crate) fn tap_entry(&mut self, db: usize, position: usize, change: KeyChange) {
        let Some((key, entry)) = self.database(db).at(position) else { return };
        if self.is_tapped(key) {
            let event = self.tap_event(key, entry, entry.expires_at_ms(), change);
            self.outbox.push_output(Output::Tap(event));
        }
    }

    pub(crate) fn tap_gone(&mut self, key: &[u8], entry: &Entry, change: KeyChange) {
        if self.is_tapped(key) {
            let event = self.tap_event(key, entry, None, change);
            self.outbox.push_output(Output::Tap(event));
        }
    }

    fn tap_event(
        &self,
        key: &[u8],
        entry: &Entry,
        expires_at_ms: Option<i64>,
        change: KeyChange,
    ) -> TapEvent {
        TapEvent {
            key: Bytes::copy_from_slice(key),
            change,
            value: Some(rendered(&entry.value)),
            by: self.turn.acting.and_then(|key| self.client(key).connection),
            expires_at_ms,
            primary: !self.is_replica(),
            token: None,
        }
    }
}

/// Formats a value, for example `field=value` pairs for a hash and the last id for a stream.
fn rendered(value: &Value) -> Bytes {
    match value {
        Value::String(text) => Bytes::copy_from_slice(text),
        Value::Hash(hash) => {
            let fields: Vec<Vec<u8>> =
                hash.iter().map(|(field, value)| [field, b"=", value].concat()).collect();
            Bytes::from(fields.join(&b' '))
        }
        Value::List(list) => Bytes::from(list.iter().collect::<Vec<_>>().join(&b' ')),
        Value::Set(set) => Bytes::from(set.iter().collect::<Vec<_>>().join(&b' ')),
        Value::SortedSet(set) => {
            let scored = set
                .iter()
                .map(|(member, score)| [member, b"=", double_text(score).as_bytes()].concat());
            Bytes::from(scored.collect::<Vec<_>>().join(&b' '))
        }
        Value::Stream(stream) => Bytes::from(stream.last().text()),
    }
}
