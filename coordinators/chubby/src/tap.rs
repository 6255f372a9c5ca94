//! Reports lock holders to the judge. A holder's name is its session and generation, such as `7-3`.

use crate::state::{Hold, State};
use bytes::Bytes;
use fencepost_machine::{ConnectionId, KeyChange, TapEvent};
use std::collections::BTreeMap;

type Head = (u64, u64);

#[derive(Clone, Debug, Default)]
pub(crate) struct LockHeads {
    prefix: Option<String>,
    heads: BTreeMap<String, Head>,
    asked: BTreeMap<u64, ConnectionId>,
}

impl LockHeads {
    pub(crate) fn new(prefix: Option<String>) -> LockHeads {
        LockHeads { prefix, ..LockHeads::default() }
    }

    pub(crate) fn asked(&mut self, session: u64, on: ConnectionId) {
        self.asked.insert(session, on);
    }

    pub(crate) fn closed(&mut self, connection: ConnectionId) {
        self.asked.retain(|_, on| *on != connection);
    }

    pub(crate) fn take_changes(
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
