//! What the judge is told: who holds a lock, as a replica knows it.
//!
//! A holder is called by its session and the generation of the lock: `7-3`.

use crate::state::{Hold, State};
use bytes::Bytes;
use fencepost_machine::{ConnectionId, KeyChange, TapEvent};
use std::collections::BTreeMap;

/// The session and the generation that hold a lock.
type Head = (u64, u64);

/// The holders that the judge was told of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heads {
    prefix: Option<String>,
    heads: BTreeMap<String, Head>,
    /// On which connection each session asked for something, while that is open.
    asked: BTreeMap<u64, ConnectionId>,
}

impl Heads {
    pub(crate) fn new(prefix: Option<String>) -> Heads {
        Heads { prefix, ..Heads::default() }
    }

    /// A session has asked for a lock.
    pub(crate) fn asked(&mut self, session: u64, on: ConnectionId) {
        self.asked.insert(session, on);
    }

    pub(crate) fn closed(&mut self, connection: ConnectionId) {
        self.asked.retain(|_, on| *on != connection);
    }

    /// Compares a state with what the judge knows. `granted` is what became of a holder that the
    /// judge does not know.
    pub(crate) fn look(
        &mut self,
        state: &State,
        granted: KeyChange,
        primary: bool,
    ) -> Vec<TapEvent> {
        let Some(prefix) = self.prefix.clone() else { return Vec::new() };
        let mut told = Vec::new();
        for (name, lock) in state.locks.iter().filter(|(name, _)| name.starts_with(&prefix)) {
            let (now, before) = (state.holder(name), self.heads.get(name).copied());
            if now == before {
                continue;
            }
            if let Some(before) = before {
                let has_ended = matches!(lock.hold, Hold::Lost { .. })
                    || !state.sessions.contains_key(&before.0);
                let left = if has_ended { KeyChange::Expired } else { KeyChange::Removed };
                told.push(self.event(name, left, before, primary));
            }
            match now {
                Some(now) => {
                    told.push(self.event(name, granted, now, primary));
                    self.heads.insert(name.clone(), now);
                }
                None => {
                    self.heads.remove(name);
                }
            }
        }
        told
    }

    fn event(&self, lock: &str, change: KeyChange, head: Head, primary: bool) -> TapEvent {
        let is_there = matches!(change, KeyChange::Granted | KeyChange::Restored);
        // Nobody has asked for the end of a session.
        let by = self.asked.get(&head.0).copied().filter(|_| change != KeyChange::Expired);
        TapEvent {
            key: Bytes::copy_from_slice(lock.as_bytes()),
            change,
            value: Some(format!("{}-{}", head.0, head.1).into()),
            by,
            expires_at_ms: None,
            primary,
            token: is_there.then_some(head.1),
        }
    }
}
