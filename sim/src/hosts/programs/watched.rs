//! Which key of the servers is the lock of the programs, and which of its values each acquisition
//! rests on. Servers tell of every key; the history keeps the lock's.

use fencepost_faults::Node;
use fencepost_reports::{Action, Change, Event, What};
use std::collections::{BTreeMap, BTreeSet};

/// The key that a run was judged by.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Watched {
    /// The key.
    pub key: String,
    /// The key that was to be watched, which no process ever wrote.
    pub instead_of: Option<String>,
    /// The keys that processes wrote, where none of them is watched.
    pub others: Vec<String>,
}

impl Watched {
    /// What is to be said of the choice, if anything.
    pub fn note(&self) -> Option<String> {
        let named: Vec<String> = self.others.iter().map(|key| format!("'{key}'")).collect();
        match (&self.instead_of, self.others.first()) {
            (Some(stated), _) => Some(format!(
                "no process wrote the key '{stated}'; the run was judged by the one that they \
                 locked instead, '{}' (--lock-key)",
                self.key
            )),
            (None, Some(first)) => Some(format!(
                "no process wrote the key '{}', but they wrote {}: name the key of their lock, \
                 with --lock-key '{first}' for example",
                self.key,
                named.join(", ")
            )),
            (None, None) => None,
        }
    }
}

/// The history with the keys of the lock alone, and with the owner of each acquisition. If no
/// process wrote a key that begins as stated, the lock is the only other key that they wrote, or
/// the only one with an expiry.
pub(crate) fn watch(mut events: Vec<Event>, stated: &str) -> (Vec<Event>, Watched) {
    let watched = choose(&events, stated);
    events.retain(|event| match &event.what {
        What::Server { key, .. } => key.starts_with(&watched.key),
        _ => true,
    });
    for (sequence, event) in events.iter_mut().enumerate() {
        event.sequence = sequence as u64;
        if let What::Server { value: Some(value), .. } = &mut event.what {
            *value = without_times(value);
        }
    }
    name_owners(&mut events);
    (events, watched)
}

/// The members of a sorted set or the fields of a hash without the times that they expire at: who
/// renews its own has the same name. Smaller numbers are counts.
fn without_times(value: &str) -> String {
    const TIME_MIN: f64 = 1e9;
    let is_time = |number: &str| number.parse().is_ok_and(|number: f64| number >= TIME_MIN);
    let members = value.split(' ').map(|member| match member.rsplit_once('=') {
        Some((name, number)) if is_time(number) => name,
        _ => member,
    });
    members.collect::<Vec<_>>().join(" ")
}

fn choose(events: &[Event], stated: &str) -> Watched {
    const OTHERS_MAX: usize = 5;
    let (mut written, mut leased) = (BTreeSet::new(), BTreeSet::new());
    for event in events {
        let What::Server { key, change, by: Some(_), lease_us, .. } = &event.what else { continue };
        if matches!(change, Change::Granted | Change::Extended) {
            written.insert(key.as_str());
            leased.extend(lease_us.map(|_| key.as_str()));
        }
    }
    let only = |keys: &BTreeSet<&str>| match keys.len() {
        1 => keys.first().map(|key| (*key).to_owned()),
        _ => None,
    };
    let is_written = written.iter().any(|key| key.starts_with(stated));
    match only(&written).or_else(|| only(&leased)).filter(|_| !is_written) {
        Some(key) => Watched { key, instead_of: Some(stated.to_owned()), others: Vec::new() },
        None => {
            let others = written.into_iter().filter(|_| !is_written).take(OTHERS_MAX);
            let others = others.map(str::to_owned).collect();
            Watched { key: stated.to_owned(), instead_of: None, others }
        }
    }
}

/// An acquisition rests on the value that its process was granted last while it asked, or else on
/// the one whose lease it extended.
fn name_owners(events: &mut [Event]) {
    let mut asked: BTreeMap<u64, usize> = BTreeMap::new();
    let mut wrote: BTreeMap<(Node, Change), (usize, String)> = BTreeMap::new();
    for (index, event) in events.iter_mut().enumerate() {
        let machine = event.node.machine();
        match &mut event.what {
            What::Invoke { operation, action: Action::Acquire } => {
                asked.insert(*operation, index);
            }
            What::Server { change, value: Some(value), by: Some(by), .. } => {
                wrote.insert((by.machine(), *change), (index, value.clone()));
            }
            What::Ok { operation, owner, .. } => {
                let Some(since) = asked.get(&*operation) else { continue };
                let by = |change| wrote.get(&(machine, change)).filter(|(at, _)| at > since);
                let value = by(Change::Granted).or_else(|| by(Change::Extended));
                *owner = value.map(|(_, value)| value.clone());
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fencepost_faults::{Micros, SimTime};

    fn event(node: Node, what: What) -> Event {
        Event { sequence: 0, time_us: SimTime(0), node, what }
    }

    fn wrote(key: &str, value: &str, lease_us: Option<Micros>) -> Event {
        let (key, value, by) = (key.to_owned(), Some(value.to_owned()), Some(Node::Client(1)));
        let (change, primary, token) = (Change::Granted, true, None);
        event(Node::Redis(1), What::Server { key, change, value, by, primary, token, lease_us })
    }

    fn chosen(events: Vec<Event>) -> (String, Option<String>) {
        let (_, watched) = watch(events, "lock:orders");
        let note = watched.note();
        (watched.key, note)
    }

    #[test]
    fn the_stated_key_is_watched_if_anybody_writes_it() {
        let events = vec![wrote("lock:orders", "a", None), wrote("other", "b", Some(Micros(1)))];
        assert_eq!(chosen(events), ("lock:orders".to_owned(), None));
        assert_eq!(chosen(Vec::new()), ("lock:orders".to_owned(), None));
    }

    #[test]
    fn the_only_other_key_is_watched_instead_and_the_report_says_so() {
        let (key, note) = chosen(vec![wrote("mutex", "a", None)]);
        assert_eq!(key, "mutex");
        assert!(note.unwrap().starts_with("no process wrote the key 'lock:orders'; "));
        let (key, _) = chosen(vec![wrote("a", "1", None), wrote("b", "1", Some(Micros(1)))]);
        assert_eq!(key, "b", "it is the only one with an expiry");
    }

    #[test]
    fn a_time_of_expiry_is_no_part_of_a_name() {
        assert_eq!(without_times("a=1700000012.5 b=1700000012345"), "a b");
        assert_eq!(without_times("a=2"), "a=2");
        assert_eq!(without_times("a=b c"), "a=b c");
    }

    #[test]
    fn of_several_other_keys_none_is_guessed() {
        let (key, note) = chosen(vec![wrote("a", "1", None), wrote("b", "1", None)]);
        assert_eq!(key, "lock:orders");
        assert!(note.unwrap().contains("they wrote 'a', 'b': name the key"));
    }

    #[test]
    fn an_acquisition_has_the_owner_that_was_written_while_it_was_asked_for() {
        let thread = Node::Client(1).of_thread(2);
        let invoke = What::Invoke { operation: 1, action: Action::Acquire };
        let ok =
            What::Ok { operation: 1, owner: None, token: None, valid_for_us: None, value: None };
        let asked = |before: Option<Event>, during: Option<Event>| {
            let all = before.into_iter().chain([event(thread, invoke.clone())]);
            let all = all.chain(during).chain([event(thread, ok.clone())]);
            let (events, _) = watch(all.collect(), "k");
            let What::Ok { owner, .. } = &events.last().unwrap().what else { panic!() };
            owner.clone()
        };
        assert_eq!(asked(None, Some(wrote("k", "a", None))), Some("a".to_owned()));
        assert_eq!(asked(Some(wrote("k", "a", None)), None), None);
    }
}
