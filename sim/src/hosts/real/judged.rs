//! What changed between two readings of a real server's keys, as the simulated server would tell
//! the judge.

use bytes::Bytes;
use fencepost_machine::{ConnectionId, KeyChange, Notice, Output, TapEvent, WallTime};
use std::collections::BTreeMap;

/// By how many milliseconds two readings of the same time of expiry may differ, where the server
/// only says what is left of it.
const ROUNDING_MS: i64 = 2;

/// A key as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Key {
    pub(super) name: Bytes,
    /// Its content, in words if it is no string.
    pub(super) value: Bytes,
    pub(super) expires_at_ms: Option<i64>,
}

/// The part of a server.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Primary { replicas: usize },
    Replica { of: String, is_syncing: bool, is_in_step: bool },
}

/// What was read at once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reading {
    pub(super) keys: Vec<Key>,
    pub(super) role: Role,
}

/// What came before a reading.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Trigger {
    /// The server has started.
    Start,
    /// A client's command; which, and which keys it writes for certain.
    Command { by: ConnectionId, clears: bool, sets: Option<Bytes> },
    /// Bytes of its primary, or something that the server did by itself.
    Itself,
    /// An operator's action that clears keys in this way, if it does.
    Operator(Option<KeyChange>),
}

/// What is known of a server.
#[derive(Default)]
pub(super) struct Judged {
    keys: BTreeMap<Bytes, (Bytes, Option<i64>)>,
    /// What has expired by the clock, until it comes to be again.
    expired: BTreeMap<Bytes, (Bytes, Option<i64>)>,
    pub(super) role: Option<Role>,
}

impl Judged {
    /// Tells of keys whose time is up by the wall clock of a primary.
    pub(super) fn expires(&mut self, wall: WallTime, out: &mut Vec<Output>) {
        if !self.is_primary() {
            return;
        }
        let now_ms = wall.as_millis();
        let is_over = |at: &Option<i64>| at.is_some_and(|at| at < now_ms);
        let over: Vec<Bytes> = self
            .keys
            .iter()
            .filter(|(_, (_, at))| is_over(at))
            .map(|(name, _)| name.clone())
            .collect();
        for name in over {
            let Some(held) = self.keys.remove(&name) else { continue };
            out.push(self.tap(&name, (held.0.clone(), None), KeyChange::Expired, None));
            self.expired.insert(name, held);
        }
    }

    /// Takes a reading, and tells what changed since the last one.
    pub(super) fn takes(&mut self, reading: Reading, cause: &Trigger, out: &mut Vec<Output>) {
        let was_syncing = matches!(self.role, Some(Role::Replica { is_syncing: true, .. }));
        let has_taken_over =
            was_syncing && matches!(reading.role, Role::Replica { is_in_step: true, .. });
        self.plays(reading.role, out);
        let now: BTreeMap<Bytes, (Bytes, Option<i64>)> = reading
            .keys
            .into_iter()
            .map(|key| (key.name, (key.value, key.expires_at_ms)))
            .collect();
        let before = std::mem::take(&mut self.keys);
        for (name, held) in &before {
            if has_taken_over {
                out.push(self.tap(name, (held.0.clone(), None), KeyChange::Discarded, None));
            } else if !now.contains_key(name) {
                let (change, by) = cause.removal();
                out.push(self.tap(name, (held.0.clone(), None), change, by));
            }
        }
        for (name, held) in &now {
            let (change, by) = match before.get(name) {
                _ if has_taken_over => (KeyChange::Restored, None),
                None if self.expired.remove(name).as_ref() == Some(held) => {
                    (KeyChange::Restored, None)
                }
                None if *cause == Trigger::Start => (KeyChange::Restored, None),
                Some(known) if known.0 == held.0 && !cause.sets(name) => {
                    if is_same_time(known.1, held.1) {
                        continue;
                    }
                    (KeyChange::Extended, cause.by())
                }
                _ => (KeyChange::Granted, cause.by()),
            };
            out.push(self.tap(name, held.clone(), change, by));
        }
        self.keys = now;
        if let (true, Some(Role::Replica { of, .. })) = (has_taken_over, &self.role) {
            out.push(Output::Notice(Notice::TookOver { host: of.clone() }));
        }
    }

    pub(super) fn is_primary(&self) -> bool {
        matches!(self.role, Some(Role::Primary { .. }))
    }

    fn plays(&mut self, role: Role, out: &mut Vec<Output>) {
        let part = |role: &Role| match role {
            Role::Primary { .. } => Notice::Leads,
            Role::Replica { of, .. } => Notice::Follows { host: of.clone() },
        };
        if self.role.as_ref().map(part) != Some(part(&role)) {
            out.push(Output::Notice(part(&role)));
        }
        self.role = Some(role);
    }

    fn tap(
        &self,
        name: &Bytes,
        (value, expires_at_ms): (Bytes, Option<i64>),
        change: KeyChange,
        by: Option<ConnectionId>,
    ) -> Output {
        Output::Tap(TapEvent {
            key: name.clone(),
            change,
            value: Some(value),
            by,
            expires_at_ms,
            primary: self.is_primary(),
            token: None,
        })
    }
}

impl Trigger {
    /// A command of which nothing more is known.
    pub(super) fn of(by: ConnectionId) -> Trigger {
        Trigger::Command { by, clears: false, sets: None }
    }

    fn by(&self) -> Option<ConnectionId> {
        match self {
            Trigger::Command { by, .. } => Some(*by),
            _ => None,
        }
    }

    fn removal(&self) -> (KeyChange, Option<ConnectionId>) {
        match self {
            Trigger::Command { clears: true, by, .. } => (KeyChange::Flushed, Some(*by)),
            Trigger::Operator(Some(change)) => (*change, None),
            other => (KeyChange::Removed, other.by()),
        }
    }

    /// Whether it writes the key for certain.
    fn sets(&self, name: &Bytes) -> bool {
        matches!(self, Trigger::Command { sets: Some(key), .. } if key == name)
    }
}

fn is_same_time(one: Option<i64>, other: Option<i64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.abs_diff(other) < ROUNDING_MS.unsigned_abs(),
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY: ConnectionId = ConnectionId(3);

    fn key(value: &'static str, expires_at_ms: Option<i64>) -> Key {
        let (name, value) = (Bytes::from_static(b"lock"), Bytes::from_static(value.as_bytes()));
        Key { name, value, expires_at_ms }
    }

    fn command(clears: bool, sets: Option<&'static str>) -> Trigger {
        let sets = sets.map(|key| Bytes::from_static(key.as_bytes()));
        Trigger::Command { by: BY, clears, sets }
    }

    fn told(out: Vec<Output>) -> Vec<(KeyChange, Option<ConnectionId>)> {
        let of = |output| match output {
            Output::Tap(tap) => Some((tap.change, tap.by)),
            _ => None,
        };
        out.into_iter().filter_map(of).collect()
    }

    /// What a primary tells that held the first and then holds the second.
    fn changes(
        before: Option<Key>,
        after: Option<Key>,
        cause: &Trigger,
    ) -> Vec<(KeyChange, Option<ConnectionId>)> {
        let (mut judged, mut out) = (Judged::default(), Vec::new());
        let role = || Role::Primary { replicas: 0 };
        let reading = |key: Option<Key>| Reading { keys: key.into_iter().collect(), role: role() };
        judged.takes(reading(before), &Trigger::Start, &mut Vec::new());
        judged.takes(reading(after), cause, &mut out);
        told(out)
    }

    #[test]
    fn a_change_is_named_after_what_it_did_and_after_who_did_it() {
        use KeyChange::{Evicted, Extended, Flushed, Granted, Removed};
        let (a, later, b) = (key("a", Some(1)), key("a", Some(9)), key("b", Some(1)));
        let plain = command(false, None);
        let by = Some(BY);
        assert_eq!(changes(None, Some(a.clone()), &plain), [(Granted, by)]);
        assert_eq!(changes(Some(a.clone()), Some(b), &plain), [(Granted, by)]);
        assert_eq!(changes(Some(a.clone()), Some(later.clone()), &plain), [(Extended, by)]);
        let set = command(false, Some("lock"));
        assert_eq!(changes(Some(a.clone()), Some(later), &set), [(Granted, by)]);
        assert_eq!(changes(Some(a.clone()), Some(a.clone()), &plain), []);
        assert_eq!(changes(Some(a.clone()), None, &plain), [(Removed, by)]);
        assert_eq!(changes(Some(a.clone()), None, &command(true, None)), [(Flushed, by)]);
        let evicts = Trigger::Operator(Some(Evicted));
        assert_eq!(changes(Some(a), None, &evicts), [(Evicted, None)]);
    }

    #[test]
    fn a_key_expires_by_the_clock_of_the_server_and_may_come_back_with_it() {
        let (mut judged, mut out) = (Judged::default(), Vec::new());
        let reading =
            || Reading { keys: vec![key("a", Some(5))], role: Role::Primary { replicas: 0 } };
        judged.takes(reading(), &Trigger::Start, &mut out);
        judged.expires(WallTime(5_999), &mut out);
        assert_eq!(told(std::mem::take(&mut out)), [(KeyChange::Restored, None)]);
        judged.expires(WallTime(6_000), &mut out);
        assert_eq!(told(std::mem::take(&mut out)), [(KeyChange::Expired, None)]);
        judged.takes(reading(), &command(false, None), &mut out);
        assert_eq!(told(out), [(KeyChange::Restored, None)]);
    }

    #[test]
    fn a_replica_that_has_synchronised_has_taken_over_everything() {
        let (mut judged, mut out) = (Judged::default(), Vec::new());
        let role = |is_syncing| Role::Replica {
            of: "redis-2".to_owned(),
            is_syncing,
            is_in_step: !is_syncing,
        };
        let reading =
            |value, is_syncing| Reading { keys: vec![key(value, None)], role: role(is_syncing) };
        judged.takes(reading("old", true), &Trigger::Start, &mut Vec::new());
        judged.takes(reading("new", false), &Trigger::Itself, &mut out);
        let took_over = Notice::TookOver { host: "redis-2".to_owned() };
        assert_eq!(out.last(), Some(&Output::Notice(took_over)));
        assert_eq!(told(out), [(KeyChange::Discarded, None), (KeyChange::Restored, None)]);
    }
}
