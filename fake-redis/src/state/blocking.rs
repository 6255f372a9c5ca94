use crate::protocol::reply::Reply;
use crate::state::client_key::ClientKey;
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    List,
    SortedSet,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unblocking {
    Timeout,
    Error,
}

pub(crate) struct Wait<A> {
    pub(crate) keys: Vec<Box<[u8]>>,
    pub(crate) wanted: Wanted,
    pub(crate) attempt: A,
    /// Writes the reply if the command must not block (EXEC, scripts). Timeouts write a null array.
    pub(crate) give_up: fn(&mut Reply),
    pub(crate) until_ms: Option<i64>,
}

pub(crate) struct Waiting<A> {
    pub(crate) client: ClientKey,
    pub(crate) db: usize,
    pub(crate) wait: Wait<A>,
}

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
    pub(crate) fn add(&mut self, waiting: Waiting<A>) {
        self.waiting.push(waiting);
    }

    pub(crate) fn take_ready(&mut self) -> Option<(usize, Box<[u8]>)> {
        self.ready.pop_front()
    }

    pub(crate) fn first_for(
        &self,
        db: usize,
        key: &[u8],
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

    pub(crate) fn place_of(&self, client: ClientKey) -> Option<usize> {
        self.waiting.iter().position(|waiting| waiting.client == client)
    }

    pub(crate) fn first_over(&self, now_ms: i64) -> Option<usize> {
        self.waiting
            .iter()
            .position(|waiting| waiting.wait.until_ms.is_some_and(|until| until <= now_ms))
    }

    pub(crate) fn first_deadline_ms(&self) -> Option<i64> {
        self.waiting.iter().filter_map(|waiting| waiting.wait.until_ms).min()
    }

    pub(crate) fn take(&mut self, place: usize) -> Waiting<A> {
        self.waiting.remove(place)
    }

    pub(crate) fn reinsert(&mut self, place: usize, waiting: Waiting<A>) {
        self.waiting.insert(place, waiting);
    }

    pub(crate) fn take_all(&mut self) -> Vec<Waiting<A>> {
        std::mem::take(&mut self.waiting)
    }

    pub(crate) fn note_ready(&mut self, db: usize, key: &[u8]) {
        let is_awaited = |waiting: &Waiting<A>| {
            waiting.db == db && waiting.wait.keys.iter().any(|other| **other == *key)
        };
        if !self.waiting.is_empty() && self.waiting.iter().any(is_awaited) {
            self.ready.push_back((db, key.into()));
        }
    }

    pub(crate) fn forget(&mut self, client: ClientKey) {
        self.waiting.retain(|waiting| waiting.client != client);
    }

    pub(crate) fn note_all_ready(&mut self) {
        let awaited = self.waiting.iter();
        let keys: Vec<_> = awaited
            .flat_map(|waiting| waiting.wait.keys.iter().map(|key| (waiting.db, key.clone())))
            .collect();
        self.ready.extend(keys);
    }
}
