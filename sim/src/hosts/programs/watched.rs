//! Finds the keys of the programs' locks, and the owner value of each acquisition.

use super::{leases, tokens};
use fencepost_clients::Coordinator;
use fencepost_faults::Node;
use fencepost_reports::{Action, Change, Event, What};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Watched {
    /// Key of the lock, or pattern for the keys of several locks.
    pub key: String,
    /// Key of `--lock-key` or its default, if no process wrote that key and fencepost chose `key`.
    pub instead_of: Option<String>,
    /// Up to five keys that processes wrote, if the watched key is not among them.
    pub others: Vec<String>,
    /// Up to five keys extended more than once, if the watched key is not among them.
    pub renewed: Vec<String>,
}

const OTHERS_MAX: usize = 5;

pub(crate) fn is_pattern(key: &str) -> bool {
    key.contains('*')
}

impl Watched {
    pub(crate) fn resource(&self) -> &str {
        self.key.split('*').next().unwrap_or_default()
    }

    pub fn renewed_note(&self) -> Option<String> {
        let named = quoted(&self.renewed);
        (!named.is_empty()).then(|| {
            format!(
                "processes renewed the keys {}, but never the lock's key '{}'",
                named.join(", "),
                self.key
            )
        })
    }

    pub fn note(&self) -> Option<String> {
        let named = quoted(&self.others);
        match (&self.instead_of, self.others.first()) {
            (Some(stated), _) => Some(format!(
                "no process wrote the key '{stated}'; fencepost judged the run by the key '{}', \
                 which the processes locked instead (--lock-key)",
                self.key
            )),
            (None, Some(first)) => {
                let pattern = common_pattern(&self.others).filter(|pattern| *pattern != self.key);
                let or_pattern = pattern.map_or(String::new(), |pattern| {
                    format!(", or, if each key is a lock, with --lock-key '{pattern}'")
                });
                Some(format!(
                    "no process wrote the key '{}', but the processes wrote {}: name the lock's \
                     key, for example with --lock-key '{first}'{or_pattern}",
                    self.key,
                    named.join(", "),
                ))
            }
            (None, None) => None,
        }
    }
}

/// Returns a pattern for several keys that share a prefix up to a separator.
fn common_pattern(keys: &[String]) -> Option<String> {
    let (first, rest) = keys.split_first().filter(|(_, rest)| !rest.is_empty())?;
    let is_common = |end: &usize| rest.iter().all(|key| key.starts_with(&first[..*end]));
    let separators = first.match_indices([':', '/', '-', '_', '.', '{']);
    let mut ends = separators.map(|(at, separator)| at + separator.len());
    ends.rfind(is_common).map(|end| format!("{}*", &first[..end]))
}

fn quoted(keys: &[String]) -> Vec<String> {
    keys.iter().map(|key| format!("'{key}'")).collect()
}

/// Chooses the lock's key, and drops the server events of other keys. If no process wrote the
/// stated key, and it is not a pattern, chooses the only key that was written, or else the only key
/// with an expiry, or else the only removed key.
pub(crate) fn watch(
    mut events: Vec<Event>,
    stated: &str,
    coordinator: Coordinator,
) -> (Vec<Event>, Watched) {
    let mut watched = choose(&events, stated, coordinator);
    watched.renewed = renewed(&events, &watched.key, coordinator);
    events.retain(|event| match &event.what {
        What::Server { key, .. } => is_of_lock(key, &watched.key, coordinator),
        _ => true,
    });
    for (sequence, event) in events.iter_mut().enumerate() {
        event.sequence = sequence as u64;
        if let What::About { lock } = &mut event.what {
            *lock = key_of(lock, &watched.key);
        }
    }
    leases::read(&mut events);
    if !is_pattern(&watched.key) {
        tokens::read(&mut events);
    }
    name_owners(&mut events, &watched, coordinator);
    (events, watched)
}

/// Returns `true` if a lock on this coordinator may consist of several keys below the lock's name.
fn has_nodes(coordinator: Coordinator) -> bool {
    matches!(coordinator, Coordinator::ZooKeeper | Coordinator::Etcd | Coordinator::Chubby)
}

fn is_of_lock(key: &str, lock: &str, coordinator: Coordinator) -> bool {
    match is_pattern(lock) || has_nodes(coordinator) {
        true => is_watched(key, lock),
        false => key == lock,
    }
}

fn is_watched(key: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => {
            let is_long = key.len() >= before.len() + after.len();
            is_long && key.starts_with(before) && key.ends_with(after)
        }
        None => key.starts_with(pattern),
    }
}

fn key_of(name: &str, pattern: &str) -> String {
    match is_watched(name, pattern) {
        true => name.to_owned(),
        false => pattern.replacen('*', name, 1),
    }
}

/// Ignores keys that were extended only once, because that extension may be part of a grant.
fn renewed(events: &[Event], watched: &str, coordinator: Coordinator) -> Vec<String> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events {
        if let What::Server { key, change: Change::Extended, by: Some(_), .. } = &event.what {
            *times.entry(key).or_default() += 1;
        }
    }
    times.retain(|_, times| *times > 1);
    match times.keys().any(|key| is_of_lock(key, watched, coordinator)) {
        true => Vec::new(),
        false => times.into_keys().take(OTHERS_MAX).map(str::to_owned).collect(),
    }
}

fn choose(events: &[Event], stated: &str, coordinator: Coordinator) -> Watched {
    let [mut written, mut leased, mut removed] = [const { BTreeSet::new() }; 3];
    for event in events {
        let What::Server { key, change, by: Some(_), lease_us, .. } = &event.what else { continue };
        match change {
            Change::Granted | Change::Extended => {
                written.insert(key.as_str());
                leased.extend(lease_us.map(|_| key.as_str()));
            }
            Change::Removed => drop(removed.insert(key.as_str())),
            _ => {}
        }
    }
    let only = |keys: &BTreeSet<&str>| match keys.len() {
        1 => keys.first().map(|key| (*key).to_owned()),
        _ => None,
    };
    let is_written = written.iter().any(|key| is_of_lock(key, stated, coordinator));
    let guess = || only(&written).or_else(|| only(&leased)).or_else(|| only(&removed));
    match guess().filter(|_| !is_written && !is_pattern(stated)) {
        Some(key) => Watched {
            key,
            instead_of: Some(stated.to_owned()),
            others: Vec::new(),
            renewed: Vec::new(),
        },
        None => {
            let others = written.into_iter().filter(|_| !is_written).take(OTHERS_MAX);
            let others = others.map(str::to_owned).collect();
            Watched { key: stated.to_owned(), instead_of: None, others, renewed: Vec::new() }
        }
    }
}

/// Sets the owner of each successful acquire: the value of its process's last grant during the
/// acquire, or else of its last extension or restoration, or else, on Redis if `others` is empty, a
/// placeholder.
fn name_owners(events: &mut [Event], watched: &Watched, coordinator: Coordinator) {
    let mut asked: BTreeMap<u64, usize> = BTreeMap::new();
    let mut about: BTreeMap<Node, String> = BTreeMap::new();
    let mut wrote: BTreeMap<(Node, Change, Option<String>), (usize, String)> = BTreeMap::new();
    let tells_all = coordinator == Coordinator::Redis && watched.others.is_empty();
    let has_several = events.iter().any(|event| matches!(event.what, What::About { .. }));
    for (index, event) in events.iter_mut().enumerate() {
        let (node, machine) = (event.node, event.node.machine());
        match &mut event.what {
            What::About { lock } => drop(about.insert(node, lock.clone())),
            What::Invoke { operation, action: Action::Acquire } => {
                asked.insert(*operation, index);
            }
            What::Server { key, change, value: Some(value), by: Some(by), .. } => {
                let lock = has_several.then(|| key.clone());
                wrote.insert((by.machine(), *change, lock), (index, value.clone()));
            }
            What::Ok { operation, owner, .. } => {
                let Some(since) = asked.get(&*operation) else { continue };
                let lock = about.get(&node).cloned();
                let by = |change| {
                    wrote.get(&(machine, change, lock.clone())).filter(|(at, _)| at > since)
                };
                // A member reports the lock of a session that continues there as restored.
                let value = by(Change::Granted).or_else(|| by(Change::Extended));
                let value = value.or_else(|| by(Change::Restored));
                let nothing = || tells_all.then(|| format!("nothing, says {node}"));
                *owner = value.map(|(_, value)| value.clone()).or_else(nothing);
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
        let (_, watched) = watch(events, "lock:orders", Coordinator::Redis);
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
    fn a_key_that_begins_with_the_locks_key_is_another_key() {
        let watched_keys = |keys: &[&str], coordinator| {
            let events = keys.iter().map(|key| wrote(key, "a", None)).collect();
            watch(events, "lock:orders", coordinator).0.len()
        };
        let counter = ["lock:orders", "lock:orders:token"];
        assert_eq!(watched_keys(&counter, Coordinator::Redis), 1);
        assert_eq!(watched_keys(&counter, Coordinator::ZooKeeper), 2, "a node of the lock");
        let (keys, note) = chosen(vec![wrote("lock:orders:0", "a", None)]);
        assert_eq!((keys.as_str(), note.is_some()), ("lock:orders:0", true));
        let (_, note) =
            chosen(vec![wrote("lock:orders:0", "a", None), wrote("lock:orders:1", "b", None)]);
        let note = note.unwrap();
        assert!(note.contains("the processes wrote 'lock:orders:0', 'lock:orders:1'"), "{note}");
        assert!(note.ends_with("if each key is a lock, with --lock-key 'lock:orders:*'"), "{note}");
    }

    #[test]
    fn keys_that_begin_alike_have_a_pattern() {
        let pattern = |keys: &[&str]| {
            common_pattern(&keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(pattern(&["job:0", "job:1", "job:2"]).as_deref(), Some("job:*"));
        assert_eq!(pattern(&["a/é1", "a/é2"]).as_deref(), Some("a/*"));
        assert_eq!(pattern(&["job:0"]), None);
        assert_eq!(pattern(&["job:0", "jobs"]), None);
        assert_eq!(pattern(&["a", "b"]), None);
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
    fn the_only_key_that_was_removed_again_is_the_lock() {
        let removed = |key: &str| {
            let mut event = wrote(key, "1", None);
            if let What::Server { change, .. } = &mut event.what {
                *change = Change::Removed;
            }
            event
        };
        let events = vec![wrote("job", "a", None), wrote("counter", "1", None), removed("job")];
        assert_eq!(chosen(events).0, "job");
    }

    #[test]
    fn a_pattern_watches_the_key_of_each_lock_and_a_name_stands_for_its_star() {
        let about = |name: &str| event(Node::Client(1), What::About { lock: name.to_owned() });
        let events = vec![
            about("7"),
            wrote("job:7", "a", Some(Micros(1))),
            about("job:8"),
            wrote("job:8", "b", Some(Micros(1))),
            wrote("jobs", "c", Some(Micros(1))),
        ];
        let (events, watched) = watch(events, "job:*", Coordinator::Redis);
        assert_eq!((watched.note(), watched.resource()), (None, "job:"));
        let locks: Vec<&str> = events
            .iter()
            .map(|event| match &event.what {
                What::About { lock } => lock.as_str(),
                What::Server { key, .. } => key.as_str(),
                _ => "",
            })
            .collect();
        assert_eq!(locks, ["job:7", "job:7", "job:8", "job:8"]);
        assert_eq!(chosen(vec![wrote("jobs", "a", None)]).0, "jobs");
        let (_, watched) = watch(vec![wrote("jobs", "a", None)], "job:*", Coordinator::Redis);
        assert_eq!(watched.key, "job:*", "of a pattern nothing is guessed");
        assert!(watched.note().is_some());
    }

    #[test]
    fn keys_that_are_renewed_instead_of_the_lock_are_told() {
        let renewed = |key: &str| {
            let mut event = wrote(key, "1", Some(Micros(1)));
            if let What::Server { change, .. } = &mut event.what {
                *change = Change::Extended;
            }
            event
        };
        let told = |keys: &[&str]| {
            let events = [wrote("lock:orders", "a", None)].into_iter();
            let events = events.chain(keys.iter().map(|key| renewed(key))).collect();
            watch(events, "lock:orders", Coordinator::Redis).1.renewed_note()
        };
        assert_eq!(
            told(&["lease", "lease"]).unwrap(),
            "processes renewed the keys 'lease', but never the lock's key 'lock:orders'"
        );
        assert_eq!(told(&["lease"]), None, "it may complete a grant");
        assert_eq!(told(&["lease", "lease", "lock:orders", "lock:orders"]), None);
        let beat =
            "processes renewed the keys 'lock:orders:beat', but never the lock's key 'lock:orders'";
        assert_eq!(told(&["lock:orders:beat", "lock:orders:beat"]).unwrap(), beat);
    }

    #[test]
    fn of_several_other_keys_none_is_guessed() {
        let (key, note) = chosen(vec![wrote("a", "1", None), wrote("b", "1", None)]);
        assert_eq!(key, "lock:orders");
        assert!(note.unwrap().contains("the processes wrote 'a', 'b': name the lock's key"));
    }

    #[test]
    fn an_acquisition_has_the_owner_that_was_written_while_it_was_asked_for() {
        let thread = Node::Client(1).for_thread(2);
        let invoke = What::Invoke { operation: 1, action: Action::Acquire };
        let ok =
            What::Ok { operation: 1, owner: None, token: None, valid_for_us: None, value: None };
        let asked_of = |coordinator, before: Option<Event>, during: Option<Event>| {
            let all = before.into_iter().chain([event(thread, invoke.clone())]);
            let all = all.chain(during).chain([event(thread, ok.clone())]);
            let (events, _) = watch(all.collect(), "k", coordinator);
            let What::Ok { owner, .. } = &events.last().unwrap().what else { panic!() };
            owner.clone()
        };
        let asked = |before, during| asked_of(Coordinator::Redis, before, during);
        assert_eq!(asked(None, Some(wrote("k", "a", None))), Some("a".to_owned()));
        let mut moved = wrote("k", "a", None);
        if let What::Server { change, .. } = &mut moved.what {
            *change = Change::Restored;
        }
        let of_session = asked_of(Coordinator::ZooKeeper, None, Some(moved));
        assert_eq!(of_session.as_deref(), Some("a"), "the session continued at another member");
        let none = Some("nothing, says client-1.2".to_owned());
        assert_eq!(asked(Some(wrote("k", "a", None)), None), none);
    }
}
