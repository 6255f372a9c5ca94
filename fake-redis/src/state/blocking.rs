//! Who waits for an element of a list or of a sorted set, and which keys became ready.

use crate::protocol::reply::Reply;
use crate::state::client_key::ClientKey;
use std::collections::VecDeque;

/// The type of value that a client waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// A list.
    List,
    /// A sorted set.
    SortedSet,
}

/// What is said to a client whose wait is ended by another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unblocking {
    /// As if the time were up.
    Timeout,
    /// An error.
    Error,
}

/// A client that waits; `A` is what it attempts.
pub(crate) struct Wait<A> {
    /// For any of these keys.
    pub(crate) keys: Vec<Box<[u8]>>,
    /// To hold this.
    pub(crate) wanted: Wanted,
    /// To do this with it.
    pub(crate) attempt: A,
    /// What is written if nothing comes.
    pub(crate) give_up: fn(&mut Reply),
    /// Until then at the latest, in wall-clock milliseconds; `None` is for ever.
    pub(crate) until_ms: Option<i64>,
}

pub(crate) struct Waiting<A> {
    pub(crate) client: ClientKey,
    pub(crate) db: usize,
    pub(crate) wait: Wait<A>,
}

/// All who wait, in the order in which they came, and the keys that became ready.
pub(crate) struct Blocking<A> {
    waiting: Vec<Waiting<A>>,
    ready: VecDeque<(usize, Box<[u8]>)>,
}

impl<A> Default for Blocking<A> {
    fn default() -> Self {
        Blocking { waiting: Vec::new(), ready: VecDeque::new() }
    }
}

impl<A> std::fmt::Debug for Blocking<A> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let clients: Vec<ClientKey> = self.waiting.iter().map(|waiting| waiting.client).collect();
        formatter
            .debug_struct("Blocking")
            .field("waiting", &clients)
            .field("ready", &self.ready)
            .finish()
    }
}

impl<A> Blocking<A> {
    /// A client waits from now on, behind all who wait already.
    pub(crate) fn add(&mut self, waiting: Waiting<A>) {
        self.waiting.push(waiting);
    }

    /// Takes the key that has been ready for longest.
    pub(crate) fn take_ready(&mut self) -> Option<(usize, Box<[u8]>)> {
        self.ready.pop_front()
    }

    /// The first, from `from` on, who waits for this key to hold that.
    pub(crate) fn first_for(
        &self,
        (db, key): (usize, &[u8]),
        held: Wanted,
        from: usize,
    ) -> Option<usize> {
        let mut waiting = self.waiting.iter().enumerate().skip(from);
        let found = waiting.find(|(_, waiting)| {
            waiting.db == db
                && waiting.wait.wanted == held
                && waiting.wait.keys.iter().any(|other| **other == *key)
        });
        found.map(|(index, _)| index)
    }

    /// The place of a client that waits.
    pub(crate) fn place_of(&self, client: ClientKey) -> Option<usize> {
        self.waiting.iter().position(|waiting| waiting.client == client)
    }

    /// The first whose time is up.
    pub(crate) fn first_over(&self, now_ms: i64) -> Option<usize> {
        self.waiting
            .iter()
            .position(|waiting| waiting.wait.until_ms.is_some_and(|until| until <= now_ms))
    }

    /// When the first time is up, in wall-clock milliseconds.
    pub(crate) fn first_deadline_ms(&self) -> Option<i64> {
        self.waiting.iter().filter_map(|waiting| waiting.wait.until_ms).min()
    }

    /// Takes out who waits at a place.
    pub(crate) fn take(&mut self, place: usize) -> Waiting<A> {
        self.waiting.remove(place)
    }

    /// Puts back who was taken out and has to wait on.
    pub(crate) fn put_back(&mut self, place: usize, waiting: Waiting<A>) {
        self.waiting.insert(place, waiting);
    }

    /// Takes out all who wait.
    pub(crate) fn take_all(&mut self) -> Vec<Waiting<A>> {
        std::mem::take(&mut self.waiting)
    }

    /// A key gained elements, or may have.
    pub(crate) fn note_ready(&mut self, db: usize, key: &[u8]) {
        let is_awaited = |waiting: &Waiting<A>| {
            waiting.db == db && waiting.wait.keys.iter().any(|other| **other == *key)
        };
        if !self.waiting.is_empty() && self.waiting.iter().any(is_awaited) {
            self.ready.push_back((db, key.into()));
        }
    }

    /// A client is gone.
    pub(crate) fn forget(&mut self, client: ClientKey) {
        self.waiting.retain(|waiting| waiting.client != client);
    }

    /// Two databases were exchanged: whatever is awaited in them may be there now.
    pub(crate) fn note_all_ready(&mut self) {
        let awaited = self.waiting.iter();
        let keys: Vec<_> = awaited
            .flat_map(|waiting| waiting.wait.keys.iter().map(|key| (waiting.db, key.clone())))
            .collect();
        self.ready.extend(keys);
    }
}
