//! CLIENT TRACKING: clients that cache what they read are told when it changes (tracking.c). Which
//! command turns it on and how is in `commands::tracking`.
//!
//! A client either has every key that it reads remembered, and is told once of each that changes;
//! or (BCAST) it names prefixes and is told of every key below them. Messages go to the client
//! itself, if it speaks RESP3, or to another one that it names (REDIRECT).

use crate::config::RedisVersion;
use crate::protocol::args::Args;
use crate::protocol::reply::{Protocol, Reply};
use crate::state::client::Client;
use crate::state::client_key::ClientKey;
use crate::state::command_info::{Flags, keys_of_script};
use crate::state::server::{Command, Server};
use crate::state::tracking::{Mode, Pending, Prefix, Wishes};
use bytes::Bytes;

/// The channel by which clients that speak RESP2 hear of changes.
const CHANNEL: &[u8] = b"__redis__:invalidate";

impl Server {
    /// Turns tracking on for a client, or changes how it tracks. Prefixes are added to those that
    /// it has.
    pub(crate) fn track(&mut self, key: ClientKey, mut wishes: Wishes) {
        let client = self.client_mut(key);
        let id = client.id();
        if wishes.mode == Mode::Broadcast {
            if wishes.prefixes.is_empty() {
                wishes.prefixes.insert(Box::default());
            }
            let old = client.untrack().map(|old| old.prefixes).unwrap_or_default();
            wishes.prefixes.extend(old);
        }
        self.tracking.begin((id, key), &wishes);
        self.client_mut(key).track(wishes);
    }

    /// Turns tracking off for a client.
    pub(crate) fn untrack(&mut self, key: ClientKey) {
        let client = self.client_mut(key);
        let id = client.id();
        let Some(wishes) = client.untrack() else { return };
        self.forget_tracking(key, id, &wishes);
    }

    /// Removes a client that is gone.
    pub(crate) fn forget_tracking(&mut self, key: ClientKey, id: u64, wishes: &Wishes) {
        self.tracking.end((id, key), wishes);
    }

    /// Remembers the keys of a command that only reads, for the client that sent it or whose script
    /// did.
    pub(crate) fn remember_read(
        &mut self,
        key: ClientKey,
        command: &'static Command,
        args: Args<'_>,
    ) {
        let is_scripts = key == ClientKey::SCRIPT;
        if !self.tracking.any() || !command.flags.intersects(Flags::READONLY) {
            return;
        }
        let Some(client) = self.turn.acting().map(|key| self.client(key)) else { return };
        let wants = client.tracking().is_some_and(|wishes| match wishes.mode {
            Mode::Read => true,
            Mode::OptIn => wishes.caching,
            Mode::OptOut => !wishes.caching,
            Mode::Broadcast => false,
        });
        if !wants {
            return;
        }
        let id = client.id();
        // Before 7.2 a command that a script calls has all keys of the script remembered.
        if is_scripts && self.config.version < RedisVersion::V7_2 {
            self.tracking.remember_those_of_script(id);
        } else {
            command.keys_in(args).for_each(|key| self.tracking.remember(key, id));
        }
    }

    /// A script is about to be executed.
    pub(crate) fn remember_script(&mut self, command: &'static Command, args: Args<'_>) {
        if self.tracking.any() && command.flags.intersects(Flags::MOVABLEKEYS) {
            self.tracking.begin_script(keys_of_script(args));
        }
    }

    /// A key was changed: all who have read it are told, and forgotten.
    pub(crate) fn invalidate(&mut self, key: &[u8]) {
        if !self.tracking.has_audience() {
            return;
        }
        let acting = self.turn.acting();
        for reader in self.tracking.change(key, acting) {
            let wishes = self.client(reader).tracking();
            let Some(wishes) = wishes.filter(|wishes| wishes.mode != Mode::Broadcast) else {
                continue;
            };
            match (acting == Some(reader), wishes.no_loop) {
                (true, true) => {}
                (true, false) => self.tracking.put_off(Pending::Key(key.into())),
                (false, _) => self.send_invalidation(reader, &array(&[key])),
            }
        }
    }

    /// All keys are gone: all who track are told.
    pub(crate) fn invalidate_all(&mut self) {
        for key in self.tracking.forget_all() {
            if self.turn.acting() == Some(key) {
                self.tracking.put_off(Pending::All);
            } else {
                self.send_invalidation_of_all(key);
            }
        }
    }

    /// Nobody is left to be told of what the command of a client has changed.
    pub(crate) fn drop_pending(&mut self) {
        self.tracking.take_pending();
    }

    /// Sends what the command of a client has made known to that client itself, once it has its
    /// reply.
    pub(crate) fn send_pending_invalidations(&mut self, key: ClientKey) {
        if !self.tracking.has_pending() {
            return;
        }
        for pending in self.tracking.take_pending() {
            match pending {
                Pending::Key(changed) => self.send_invalidation(key, &array(&[&*changed])),
                Pending::All => self.send_invalidation_of_all(key),
            }
        }
    }

    /// Tells those who listen to prefixes what has changed below them: at the end of a turn, all
    /// changes in one message.
    pub(crate) fn broadcast_changes(&mut self) {
        if !self.tracking.has_audience() {
            return;
        }
        for Prefix { listeners, changed } in self.tracking.take_changes() {
            for listener in listeners {
                let no_loop = self.client(listener).tracking().is_some_and(|it| it.no_loop);
                let keys: Vec<&[u8]> = changed
                    .iter()
                    .filter(|(_, by)| !(no_loop && **by == Some(listener)))
                    .map(|(key, _)| &**key)
                    .collect();
                if !keys.is_empty() {
                    self.send_invalidation(listener, &array(&keys));
                }
            }
        }
    }

    fn send_invalidation_of_all(&mut self, key: ClientKey) {
        let mut nothing = Reply::default();
        nothing.protocol = self.client(key).protocol;
        nothing.null();
        self.send_invalidation(key, &nothing.take());
    }

    /// Sends a message to a client that tracks, or to the one that it names: `sendTrackingMessage`.
    fn send_invalidation(&mut self, key: ClientKey, what: &Bytes) {
        let client = self.client(key);
        let redirect = client.tracking().map_or(0, |wishes| wishes.redirect);
        let listener = match redirect {
            0 => key,
            id => match self.client_of_id(id) {
                Some(listener) => listener,
                None => return self.report_broken_redirect(key, id),
            },
        };
        let listener_client = self.client(listener);
        let mut message = Reply::default();
        message.protocol = listener_client.protocol;
        match listener_client.protocol {
            Protocol::Resp3 => {
                message.push(2);
                message.bulk(b"invalidate");
            }
            Protocol::Resp2 if redirect != 0 && listener_client.subscriptions().any() => {
                message.push(3);
                message.bulk(b"message");
                message.bulk(CHANNEL);
            }
            Protocol::Resp2 => return,
        }
        let message = [message.take(), what.clone()].concat();
        self.push_to(listener, message.into());
    }

    /// The client that is told instead is gone.
    fn report_broken_redirect(&mut self, key: ClientKey, id: u64) {
        let client = self.client_mut(key);
        if let Some(wishes) = client.tracking_mut() {
            wishes.is_broken = true;
        }
        if client.protocol == Protocol::Resp3 {
            let mut message = Reply::default();
            message.protocol = Protocol::Resp3;
            message.push(2);
            message.bulk(b"tracking-redir-broken");
            message.integer(id as i64);
            self.push_to(key, message.take());
        }
    }

    /// The connected client of a number.
    pub(crate) fn client_of_id(&self, id: u64) -> Option<ClientKey> {
        self.roster.connected().find(|key| self.client(*key).id() == id)
    }
}

/// CLIENT CACHING holds for one command: for a transaction until its end.
pub(crate) fn forget_caching(client: &mut Client) {
    if client.tracking().is_none() || client.transaction.is_open() {
        return;
    }
    let is_about_clients =
        client.last_command().is_some_and(|command| command.full_name.starts_with("client|"));
    if let Some(wishes) = client.tracking_mut().filter(|_| !is_about_clients) {
        wishes.caching = false;
    }
}

/// Keys as an array.
fn array(keys: &[&[u8]]) -> Bytes {
    let mut reply = Reply::default();
    reply.array(keys.len());
    keys.iter().for_each(|key| reply.bulk(key));
    reply.take()
}
