//! CLIENT TRACKING: what clients asked for, and which keys they have read.

use crate::state::client_key::ClientKey;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::collections::{BTreeMap, BTreeSet};

/// Which keys a client is told of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Mode {
    /// Those that it read.
    #[default]
    Read,
    /// Those that it read with the command after CLIENT CACHING YES.
    OptIn,
    /// Those that it read, but not with the command after CLIENT CACHING NO.
    OptOut,
    /// Those below its prefixes.
    Broadcast,
}

/// What a client asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Wishes {
    pub(crate) mode: Mode,
    /// Nothing is told of its own changes.
    pub(crate) no_loop: bool,
    /// The number of the client that is told instead; 0 for itself.
    pub(crate) redirect: u64,
    /// That client is gone.
    pub(crate) is_broken: bool,
    /// CLIENT CACHING was sent just before.
    pub(crate) caching: bool,
    /// Prefixes, for [`Mode::Broadcast`].
    pub(crate) prefixes: BTreeSet<Box<[u8]>>,
}

/// Who listens to a prefix, and what has changed below it since they were told.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prefix {
    pub(crate) listeners: Vec<ClientKey>,
    /// By key: the client that changed it last, if one did.
    pub(crate) changed: BTreeMap<Box<[u8]>, Option<ClientKey>>,
}

/// A message for the client whose command is executed: it leaves after the reply.
#[derive(Clone, Debug)]
pub(crate) enum Pending {
    Key(Box<[u8]>),
    All,
}

/// Who is told of what. A client that tracks is among `clients`, and a listener of each of its
/// prefixes, until it ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracking {
    /// Clients that track, by their numbers.
    clients: IndexMap<u64, ClientKey, FxBuildHasher>,
    /// The numbers of the clients that have read a key and were not told of a change since.
    readers: IndexMap<Box<[u8]>, Vec<u64>, FxBuildHasher>,
    /// Prefixes with at least one listener.
    prefixes: BTreeMap<Box<[u8]>, Prefix>,
    pending: Vec<Pending>,
    /// The keys that the script which is executed was called with.
    script_keys: Vec<Box<[u8]>>,
}

impl Tracking {
    /// A client tracks from now on, or in another way.
    pub(crate) fn begin(&mut self, (id, key): (u64, ClientKey), wishes: &Wishes) {
        for prefix in &wishes.prefixes {
            let listeners = &mut self.prefixes.entry(prefix.clone()).or_default().listeners;
            if !listeners.contains(&key) {
                listeners.push(key);
            }
        }
        self.clients.insert(id, key);
    }

    /// A client tracks no more, or is gone.
    pub(crate) fn end(&mut self, (id, key): (u64, ClientKey), wishes: &Wishes) {
        self.clients.swap_remove(&id);
        for prefix in &wishes.prefixes {
            let Some(known) = self.prefixes.get_mut(prefix) else { continue };
            known.listeners.retain(|listener| *listener != key);
            if known.listeners.is_empty() {
                self.prefixes.remove(prefix);
            }
        }
    }

    /// Whether any client tracks.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        !self.clients.is_empty()
    }

    /// How many clients track.
    pub(crate) fn clients(&self) -> usize {
        self.clients.len()
    }

    /// How many keys are remembered, how many readers of them, and how many prefixes there are.
    pub(crate) fn totals(&self) -> (usize, usize, usize) {
        let items = self.readers.values().map(Vec::len).sum();
        (self.readers.len(), items, self.prefixes.len())
    }

    /// A client has read a key.
    pub(crate) fn remember(&mut self, key: &[u8], id: u64) {
        let readers = self.readers.entry(key.into()).or_default();
        if !readers.contains(&id) {
            readers.push(id);
        }
    }

    /// A script is called with these keys.
    pub(crate) fn begin_script(&mut self, keys: Vec<&[u8]>) {
        self.script_keys = keys.into_iter().map(Box::from).collect();
    }

    /// A client has read all keys that its script was called with.
    pub(crate) fn remember_those_of_script(&mut self, id: u64) {
        let keys = std::mem::take(&mut self.script_keys);
        keys.iter().for_each(|key| self.remember(key, id));
        self.script_keys = keys;
    }

    /// Whether anybody may have to be told of a change.
    #[inline]
    pub(crate) fn has_audience(&self) -> bool {
        !(self.readers.is_empty() && self.prefixes.is_empty())
    }

    /// A client, or nobody, changed a key: who has read it and still tracks, and is forgotten.
    /// Those who listen to prefixes of it are told later.
    pub(crate) fn change(&mut self, key: &[u8], by: Option<ClientKey>) -> Vec<ClientKey> {
        for (_, below) in self.prefixes.iter_mut().filter(|(prefix, _)| key.starts_with(prefix)) {
            below.changed.insert(key.into(), by);
        }
        let readers = self.readers.swap_remove(key).unwrap_or_default();
        readers.iter().filter_map(|id| self.clients.get(id).copied()).collect()
    }

    /// All keys are gone: who tracks. What they had read is forgotten.
    pub(crate) fn forget_all(&mut self) -> Vec<ClientKey> {
        self.readers.clear();
        self.clients.values().copied().collect()
    }

    /// The client whose command is executed is told of this once it has its reply.
    pub(crate) fn put_off(&mut self, pending: Pending) {
        self.pending.push(pending);
    }

    /// Whether anything was put off.
    #[inline]
    pub(crate) fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// What was put off.
    pub(crate) fn take_pending(&mut self) -> Vec<Pending> {
        std::mem::take(&mut self.pending)
    }

    /// What has changed below prefixes since the last time, and who listens to them.
    pub(crate) fn take_changes(&mut self) -> Vec<Prefix> {
        let changed = self.prefixes.values_mut().filter(|prefix| !prefix.changed.is_empty());
        let take = |prefix: &mut Prefix| Prefix {
            listeners: prefix.listeners.clone(),
            changed: std::mem::take(&mut prefix.changed),
        };
        changed.map(take).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: (u64, ClientKey) = (11, ClientKey(5));
    const OTHER: (u64, ClientKey) = (12, ClientKey(6));

    fn below(prefix: &[u8]) -> Wishes {
        let prefixes = BTreeSet::from([Box::from(prefix)]);
        Wishes { mode: Mode::Broadcast, prefixes, ..Wishes::default() }
    }

    #[test]
    fn a_reader_is_told_once_and_not_when_it_is_gone() {
        let mut tracking = Tracking::default();
        assert!(!tracking.any());
        tracking.begin(ONE, &Wishes::default());
        tracking.begin(OTHER, &Wishes::default());
        for (id, _) in [ONE, OTHER, ONE] {
            tracking.remember(b"a", id);
        }
        assert_eq!(tracking.totals(), (1, 2, 0));
        assert_eq!(tracking.change(b"b", None), []);
        tracking.end(OTHER, &Wishes::default());
        assert_eq!(tracking.change(b"a", None), [ONE.1]);
        assert_eq!(tracking.change(b"a", None), [], "it is told already");
        assert!(tracking.any() && !tracking.has_audience());
    }

    #[test]
    fn a_prefix_lives_as_long_as_somebody_listens() {
        let mut tracking = Tracking::default();
        tracking.begin(ONE, &below(b"user:"));
        tracking.begin(ONE, &below(b"user:"));
        tracking.begin(OTHER, &below(b"user:"));
        tracking.change(b"user:1", Some(ONE.1));
        tracking.change(b"stock", None);
        let changes = tracking.take_changes();
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].listeners, [ONE.1, OTHER.1]);
        assert_eq!(changes[0].changed.len(), 1);
        assert!(tracking.take_changes().is_empty(), "they are told already");
        tracking.end(ONE, &below(b"user:"));
        assert!(tracking.has_audience());
        tracking.end(OTHER, &below(b"user:"));
        assert!(!tracking.has_audience() && tracking.totals() == (0, 0, 0));
    }

    #[test]
    fn the_keys_of_a_script_are_read_by_whoever_calls_it() {
        let mut tracking = Tracking::default();
        tracking.begin(ONE, &Wishes::default());
        tracking.begin_script(vec![b"a", b"b"]);
        tracking.remember_those_of_script(ONE.0);
        tracking.remember_those_of_script(ONE.0);
        assert_eq!(tracking.totals(), (2, 2, 0));
        assert_eq!(tracking.forget_all(), [ONE.1]);
        assert!(!tracking.has_audience());
    }
}
