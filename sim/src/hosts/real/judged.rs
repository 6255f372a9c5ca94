//! Compares two readings of a real server and reports the changes to its locks.

use bytes::Bytes;
use fencepost_machine::{ConnectionId, KeyChange, Notice, Output, TapEvent, WallTime};
use std::collections::BTreeMap;

/// Tolerance between two readings of an expiry: some servers report only the time left.
const ROUNDING_MS: i64 = 2;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Key {
    pub(super) name: Bytes,
    /// Form of storage, to distinguish locks with the same name that are stored differently.
    pub(super) form: u8,
    /// Content of the key as text, or another text that identifies the owner.
    pub(super) value: Bytes,
    pub(super) expires_at_ms: Option<i64>,
    /// Version of the key, to distinguish two grants with the same value.
    pub(super) version: u64,
    pub(super) token: Option<u64>,
    pub(super) owner: Owner,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Owner {
    #[default]
    OfTrigger,
    Connection(Option<ConnectionId>),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Primary { replicas: usize },
    Replica { of: String, is_syncing: bool, is_in_step: bool },
    Member { leads: bool },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reading {
    pub(super) keys: Vec<Key>,
    pub(super) role: Role,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Trigger {
    Start,
    Command {
        by: ConnectionId,
        clears: bool,
        sets: Option<Bytes>,
    },
    /// The server answered a session whose request changed nothing. A change at this instant
    /// belongs to another session, which the server may answer later.
    Bystander,
    Itself,
    End,
    Operator(Option<KeyChange>),
}

#[derive(Default)]
pub(super) struct Judged {
    keys: BTreeMap<(Bytes, u8), Key>,
    expired: BTreeMap<(Bytes, u8), Key>,
    pub(super) role: Option<Role>,
}

impl Judged {
    pub(super) fn report_expired(&mut self, wall: WallTime, out: &mut Vec<Output>) {
        if !self.is_primary() {
            return;
        }
        let now_ms = wall.as_millis();
        let is_over = |key: &Key| key.expires_at_ms.is_some_and(|at| at < now_ms);
        let over = self.keys.iter().filter(|(_, key)| is_over(key));
        let over: Vec<(Bytes, u8)> = over.map(|(place, _)| place.clone()).collect();
        for place in over {
            let Some(key) = self.keys.remove(&place) else { continue };
            out.push(self.tap(&key, KeyChange::Expired, None));
            self.expired.insert(place, key);
        }
    }

    /// Reports the changes since the last reading. `left` returns how a key was replaced or
    /// removed, or `None` if `cause` determines this.
    pub(super) fn take_reading(
        &mut self,
        reading: Reading,
        cause: &Trigger,
        left: impl Fn(&Key, Option<&Key>) -> Option<(KeyChange, Option<ConnectionId>)>,
        out: &mut Vec<Output>,
    ) {
        let was_syncing = matches!(self.role, Some(Role::Replica { is_syncing: true, .. }));
        let has_taken_over =
            was_syncing && matches!(reading.role, Role::Replica { is_in_step: true, .. });
        self.take_role(reading.role, out);
        let keys = reading.keys.into_iter();
        let now: BTreeMap<(Bytes, u8), Key> =
            keys.map(|key| ((key.name.clone(), key.form), key)).collect();
        let before = std::mem::take(&mut self.keys);
        for (place, key) in &before {
            let successor = now.get(place);
            if has_taken_over {
                out.push(self.tap(key, KeyChange::Discarded, None));
            } else if successor.is_none_or(|it| !it.is_same_grant(key))
                && let Some((change, by)) = left(key, successor)
            {
                let by = by.or(cause.by().filter(|_| change == KeyChange::Removed));
                out.push(self.tap(key, change, by));
            } else if successor.is_none() {
                let (change, by) = cause.removal();
                out.push(self.tap(key, change, by));
            }
        }
        for (place, key) in &now {
            let change = match before.get(place) {
                _ if has_taken_over => KeyChange::Restored,
                None if self.expired.remove(place).as_ref() == Some(key) => KeyChange::Restored,
                None if *cause == Trigger::Start => KeyChange::Restored,
                Some(known) if known.is_same_grant(key) && !cause.sets(&key.name) => {
                    if is_same_time(known.expires_at_ms, key.expires_at_ms) {
                        continue;
                    }
                    KeyChange::Extended
                }
                _ => KeyChange::Granted,
            };
            let by = match (change, key.owner) {
                (KeyChange::Restored, _) => None,
                (_, Owner::OfTrigger) => cause.by(),
                (_, Owner::Connection(by)) => by,
            };
            out.push(self.tap(key, change, by));
        }
        self.keys = now;
        if let (true, Some(Role::Replica { of, .. })) = (has_taken_over, &self.role) {
            out.push(Output::Notice(Notice::TookOver { host: of.clone() }));
        }
    }

    pub(super) fn holds(&self) -> bool {
        !self.keys.is_empty()
    }

    pub(super) fn is_primary(&self) -> bool {
        matches!(self.role, Some(Role::Primary { .. } | Role::Member { leads: true }))
    }

    fn take_role(&mut self, role: Role, out: &mut Vec<Output>) {
        let part = |role: &Role| match role {
            Role::Primary { .. } => Some(Notice::Leads),
            Role::Replica { of, .. } => Some(Notice::Follows { host: of.clone() }),
            Role::Member { .. } => None,
        };
        let now = part(&role);
        if self.role.as_ref().and_then(part) != now {
            out.extend(now.map(Output::Notice));
        }
        self.role = Some(role);
    }

    fn tap(&self, key: &Key, change: KeyChange, by: Option<ConnectionId>) -> Output {
        use KeyChange::{Extended, Granted, Restored};
        let stands = matches!(change, Granted | Extended | Restored);
        Output::Tap(TapEvent {
            key: key.name.clone(),
            change,
            value: Some(key.value.clone()),
            by,
            expires_at_ms: key.expires_at_ms.filter(|_| stands),
            primary: self.is_primary(),
            token: key.token.filter(|_| stands),
        })
    }
}

impl Key {
    fn is_same_grant(&self, other: &Key) -> bool {
        (&self.value, self.version) == (&other.value, other.version)
    }
}

impl Trigger {
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
        Key { name, value, expires_at_ms, ..Key::default() }
    }

    fn command(clears: bool, sets: Option<&'static str>) -> Trigger {
        let sets = sets.map(|key| Bytes::from_static(key.as_bytes()));
        Trigger::Command { by: BY, clears, sets }
    }

    fn change_of(out: Vec<Output>) -> Vec<(KeyChange, Option<ConnectionId>)> {
        let of = |output| match output {
            Output::Tap(tap) => Some((tap.change, tap.by)),
            _ => None,
        };
        out.into_iter().filter_map(of).collect()
    }

    fn changes(
        before: Option<Key>,
        after: Option<Key>,
        cause: &Trigger,
    ) -> Vec<(KeyChange, Option<ConnectionId>)> {
        let (mut judged, mut out) = (Judged::default(), Vec::new());
        let role = || Role::Primary { replicas: 0 };
        let reading = |key: Option<Key>| Reading { keys: key.into_iter().collect(), role: role() };
        judged.take_reading(reading(before), &Trigger::Start, |_, _| None, &mut Vec::new());
        judged.take_reading(reading(after), cause, |_, _| None, &mut out);
        change_of(out)
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
        judged.take_reading(reading(), &Trigger::Start, |_, _| None, &mut out);
        judged.report_expired(WallTime(5_999), &mut out);
        assert_eq!(change_of(std::mem::take(&mut out)), [(KeyChange::Restored, None)]);
        judged.report_expired(WallTime(6_000), &mut out);
        assert_eq!(change_of(std::mem::take(&mut out)), [(KeyChange::Expired, None)]);
        judged.take_reading(reading(), &command(false, None), |_, _| None, &mut out);
        assert_eq!(change_of(out), [(KeyChange::Restored, None)]);
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
        judged.take_reading(reading("old", true), &Trigger::Start, |_, _| None, &mut Vec::new());
        judged.take_reading(reading("new", false), &Trigger::Itself, |_, _| None, &mut out);
        let took_over = Notice::TookOver { host: "redis-2".to_owned() };
        assert_eq!(out.last(), Some(&Output::Notice(took_over)));
        assert_eq!(change_of(out), [(KeyChange::Discarded, None), (KeyChange::Restored, None)]);
    }

    #[test]
    fn a_lock_that_passes_to_the_next_in_a_queue_is_left_first() {
        let (mut judged, mut out) = (Judged::default(), Vec::new());
        let held = |value: &'static str, by| Key {
            owner: Owner::Connection(Some(ConnectionId(by))),
            ..key(value, None)
        };
        let reading = |key: Key| Reading { keys: vec![key], role: Role::Member { leads: true } };
        let left = |_: &Key, _: Option<&Key>| Some((KeyChange::Expired, None));
        judged.take_reading(reading(held("a", 1)), &Trigger::Itself, left, &mut out);
        judged.take_reading(reading(held("a", 1)), &Trigger::Itself, left, &mut out);
        judged.take_reading(reading(held("b", 2)), &Trigger::Itself, left, &mut out);
        let granted = |by| (KeyChange::Granted, Some(ConnectionId(by)));
        assert_eq!(change_of(out), [granted(1), (KeyChange::Expired, None), granted(2)]);
    }
}
