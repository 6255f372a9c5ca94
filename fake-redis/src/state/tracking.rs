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

/// Who is told of what.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tracking {
    /// Clients that track, by their numbers.
    pub(crate) clients: IndexMap<u64, ClientKey, FxBuildHasher>,
    /// The numbers of the clients that have read a key and were not told of a change since.
    pub(crate) readers: IndexMap<Box<[u8]>, Vec<u64>, FxBuildHasher>,
    pub(crate) prefixes: BTreeMap<Box<[u8]>, Prefix>,
    pub(crate) pending: Vec<Pending>,
    /// The keys that the script which is executed was called with.
    pub(crate) script_keys: Vec<Box<[u8]>>,
}

impl Tracking {
    /// How many clients track.
    pub(crate) fn clients(&self) -> usize {
        self.clients.len()
    }

    /// How many keys are remembered, how many readers of them, and how many prefixes there are.
    pub(crate) fn totals(&self) -> (usize, usize, usize) {
        let items = self.readers.values().map(Vec::len).sum();
        (self.readers.len(), items, self.prefixes.len())
    }
}

impl Tracking {
    pub(crate) fn remember(&mut self, key: &[u8], id: u64) {
        let readers = self.readers.entry(key.into()).or_default();
        if !readers.contains(&id) {
            readers.push(id);
        }
    }
}
