//! Derives the owners, ends and expiries of leases that servers do not see, because a lease's end
//! is part of a value, such as a sorted-set member's score or a hash field.

use crate::world::node_clock::WALL_EPOCH_US;
use fencepost_faults::{Micros, Node, SimTime};
use fencepost_reports::{Change, Event, What};
use std::collections::BTreeMap;

/// Smallest number that counts as seconds since the Unix epoch.
const SECONDS_MIN: f64 = 1e9;
/// Assumed maximum clock error of a program that removes expired entries.
const TOLERANCE: Micros = Micros::from_millis(50);

struct Value {
    name: String,
    ends: Option<SimTime>,
}

pub(super) fn read(events: &mut [Event]) {
    let mut standing: BTreeMap<(Node, String), (String, SimTime)> = BTreeMap::new();
    for event in events {
        let (node, now) = (event.node, event.time_us);
        let What::Server { key, change, value: Some(value), by, lease_us, .. } = &mut event.what
        else {
            continue;
        };
        let read = value_at(value, now);
        *value = read.name;
        let place = (node, key.clone());
        match (*change, read.ends) {
            (Change::Granted | Change::Extended, Some(ends)) => {
                let left = ends.since(now);
                *lease_us = Some(lease_us.map_or(left, |of_key| of_key.min(left)));
                let before = standing.insert(place, (value.clone(), ends));
                if before.is_some_and(|(owner, _)| owner == *value) {
                    *change = Change::Extended;
                }
            }
            (Change::Removed, _) => {
                let Some((owner, ends)) = standing.remove(&place) else { continue };
                *value = owner;
                if ends <= now + TOLERANCE {
                    (*change, *by) = (Change::Expired, None);
                }
            }
            _ => drop(standing.remove(&place)),
        }
    }
}

fn value_at(value: &str, now: SimTime) -> Value {
    let members: Vec<(&str, Option<SimTime>)> = value.split(' ').map(member).collect();
    let is_live = |ends: &Option<SimTime>| ends.is_none_or(|ends| now < ends);
    let are_timed = members.len() > 1 && members.iter().all(|(_, ends)| ends.is_some());
    let has_live = members.iter().any(|(_, ends)| is_live(ends));
    let kept = members.iter().filter(|(_, ends)| !(are_timed && has_live) || is_live(ends));
    let names: Vec<&str> = kept.clone().map(|(name, _)| *name).collect();
    Value { name: names.join(" "), ends: kept.filter_map(|(_, ends)| *ends).max() }
}

fn member(text: &str) -> (&str, Option<SimTime>) {
    let parsed = text.rsplit_once('=').and_then(|(name, number)| {
        let number: f64 = number.parse().ok().filter(|number: &f64| number.is_finite())?;
        Some((name, ends(number)?))
    });
    parsed.map_or((text, None), |(name, ends)| (name, Some(ends)))
}

fn ends(number: f64) -> Option<SimTime> {
    let us = match number {
        _ if number < SECONDS_MIN => return None,
        _ if number < SECONDS_MIN * 1e3 => number * 1e6,
        _ if number < SECONDS_MIN * 1e6 => number * 1e3,
        _ => number,
    };
    let since = us - WALL_EPOCH_US as f64;
    Some(SimTime(if since > 0.0 { since as u64 } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    fn at(seconds: u64) -> i64 {
        WALL_EPOCH_US / 1_000_000 + seconds as i64
    }

    fn read_changes(changes: &[(u64, Change, String)]) -> Vec<(Change, String, Option<u64>, bool)> {
        let event = |(seconds, change, value): &(u64, Change, String)| Event {
            sequence: 0,
            time_us: SimTime(seconds * SECOND),
            node: Node::Redis(1),
            what: What::Server {
                key: "lock".to_owned(),
                change: *change,
                value: Some(value.clone()),
                by: Some(Node::Client(1)),
                primary: true,
                token: None,
                lease_us: None,
            },
        };
        let mut events: Vec<Event> = changes.iter().map(event).collect();
        read(&mut events);
        let parts = |event: Event| match event.what {
            What::Server { change, value, by, lease_us, .. } => {
                let lease = lease_us.map(|lease| lease.0 / SECOND);
                (change, value.unwrap_or_default(), lease, by.is_some())
            }
            _ => unreachable!("all are of a server"),
        };
        events.into_iter().map(parts).collect()
    }

    #[test]
    fn the_score_of_a_member_is_its_lease() {
        let told = read_changes(&[
            (1, Change::Granted, format!("a={}", at(11))),
            (5, Change::Granted, format!("a={}000", at(15))),
            (20, Change::Removed, String::new()),
            (20, Change::Granted, format!("b={}", at(30))),
            (22, Change::Removed, format!("b={}", at(30))),
        ]);
        let line = |change, name: &str, lease, asked| (change, name.to_owned(), lease, asked);
        assert_eq!(
            told,
            [
                line(Change::Granted, "a", Some(10), true),
                line(Change::Extended, "a", Some(10), true),
                line(Change::Expired, "a", None, false),
                line(Change::Granted, "b", Some(10), true),
                line(Change::Removed, "b", None, true),
            ]
        );
    }

    #[test]
    fn of_several_members_those_that_are_over_do_not_count() {
        let told = read_changes(&[(20, Change::Granted, format!("a={} b={}", at(15), at(30)))]);
        assert_eq!(told, [(Change::Granted, "b".to_owned(), Some(10), true)]);
    }

    #[test]
    fn a_field_of_a_hash_may_hold_the_time_and_counts_stay() {
        let told = read_changes(&[
            (1, Change::Granted, format!("owner=a expires={}", at(11))),
            (2, Change::Granted, "c=2".to_owned()),
        ]);
        assert_eq!(told[0], (Change::Granted, "owner=a expires".to_owned(), Some(10), true));
        assert_eq!(told[1], (Change::Granted, "c=2".to_owned(), None, true));
    }
}
