use crate::state::client::{Client, Role};
use crate::state::client_key::ClientKey;
use fencepost_machine::{ConnectionId, WallTime};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use slab::Slab;
use std::collections::VecDeque;

#[derive(Debug)]
pub(crate) struct Roster {
    clients: Slab<Client>,
    connections: IndexMap<ConnectionId, ClientKey, FxBuildHasher>,
    ready: VecDeque<ClientKey>,
    next_id: u64,
}

impl Roster {
    pub(crate) fn new(now: WallTime) -> Self {
        let roles = [Role::Script, Role::Primary, Role::Disk, Role::Operator];
        Roster {
            clients: roles.into_iter().map(|role| Client::fixed(role, now)).enumerate().collect(),
            connections: IndexMap::default(),
            ready: VecDeque::new(),
            next_id: 1,
        }
    }

    pub(crate) fn client(&self, key: ClientKey) -> &Client {
        &self.clients[key.0]
    }

    pub(crate) fn client_mut(&mut self, key: ClientKey) -> &mut Client {
        &mut self.clients[key.0]
    }

    pub(crate) fn connect(
        &mut self,
        connection: ConnectionId,
        peer: &str,
        now: WallTime,
    ) -> ClientKey {
        let client = Client::of_connection(self.next_id, connection, peer, now);
        self.next_id += 1;
        let key = ClientKey(self.clients.insert(client));
        self.connections.insert(connection, key);
        key
    }

    pub(crate) fn remove(&mut self, key: ClientKey) -> Client {
        let client = self.clients.remove(key.0);
        if let Some(connection) = client.connection {
            self.connections.swap_remove(&connection);
        }
        self.ready.retain(|ready| *ready != key);
        client
    }

    pub(crate) fn connected_count(&self) -> usize {
        self.connections.len()
    }

    pub(crate) fn connected(&self) -> impl Iterator<Item = ClientKey> {
        self.connections.values().copied()
    }

    #[inline]
    pub(crate) fn client_of(&self, connection: ConnectionId) -> Option<ClientKey> {
        self.connections.get(&connection).copied()
    }

    pub(crate) fn queue(&mut self, key: ClientKey) {
        self.client_mut(key).service.queue();
        self.ready.push_back(key);
    }

    pub(crate) fn move_to_front(&mut self, key: ClientKey) {
        if self.ready.back() == Some(&key) {
            self.ready.rotate_right(1);
        }
    }

    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(crate) fn take_ready(&mut self) -> Option<ClientKey> {
        let key = self.ready.pop_front()?;
        self.client_mut(key).service.take();
        Some(key)
    }

    pub(crate) fn clear_ready(&mut self) {
        self.ready.clear();
    }
}
