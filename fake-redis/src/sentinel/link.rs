//! The connections to an instance, and the times of recent commands and replies (`instanceLink`).

use crate::protocol::outgoing::Outgoing;
use fencepost_machine::{ConnectionId, Outputs};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expected {
    Nothing,
    Pong,
    Info,
    Published,
    MasterDown,
}

#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) command: Option<Outgoing<Expected>>,
    /// Connection that subscribes to the hello channel (`pc`). A link to a Sentinel has none.
    pub(crate) pubsub: Option<Outgoing<Expected>>,
    pub(crate) disconnected: bool,
    pub(crate) command_since: i64,
    pub(crate) pubsub_since: i64,
    pub(crate) pubsub_activity: i64,
    pub(crate) last_reconnect: i64,
    /// Time of the first PING without an acceptable reply (`act_ping_time`).
    pub(crate) ping_pending_since: Option<i64>,
    pub(crate) last_ping: i64,
    pub(crate) last_available: i64,
    pub(crate) last_pong: i64,
    pub(crate) info_pending_since: Option<i64>,
    pub(crate) hello_pending_since: Option<i64>,
    pub(crate) ask_pending_since: Option<i64>,
}

impl Link {
    /// Creates a link with a pending PING. An instance that never answers then counts as down.
    pub(crate) fn new(now: i64) -> Self {
        Self {
            command: None,
            pubsub: None,
            disconnected: true,
            command_since: 0,
            pubsub_since: 0,
            pubsub_activity: 0,
            last_reconnect: 0,
            ping_pending_since: Some(now),
            last_ping: 0,
            last_available: now,
            last_pong: now,
            info_pending_since: None,
            hello_pending_since: None,
            ask_pending_since: None,
        }
    }

    pub(crate) fn reset(&mut self, now: i64, out: &mut Outputs) {
        self.close_command(out);
        self.close_pubsub(out);
        self.ping_pending_since = Some(now);
        self.last_ping = 0;
        self.last_available = now;
        self.last_pong = now;
    }

    pub(crate) fn close_command(&mut self, out: &mut Outputs) {
        if let Some(outgoing) = self.command.take() {
            outgoing.close(out);
            self.command_lost();
        }
    }

    pub(crate) fn close_pubsub(&mut self, out: &mut Outputs) {
        if let Some(outgoing) = self.pubsub.take() {
            outgoing.close(out);
            self.disconnected = true;
        }
    }

    pub(crate) fn lost(&mut self, connection: ConnectionId) -> bool {
        if self.command.as_ref().is_some_and(|outgoing| outgoing.id == connection) {
            self.command = None;
            self.command_lost();
            return true;
        }
        if self.pubsub.as_ref().is_some_and(|outgoing| outgoing.id == connection) {
            self.pubsub = None;
            self.disconnected = true;
            return true;
        }
        false
    }

    pub(crate) fn find(&mut self, connection: ConnectionId) -> Option<&mut Outgoing<Expected>> {
        [&mut self.command, &mut self.pubsub]
            .into_iter()
            .flatten()
            .find(|outgoing| outgoing.id == connection)
    }

    pub(crate) fn has(&self, connection: ConnectionId) -> bool {
        let is_it = |outgoing: &Outgoing<Expected>| outgoing.id == connection;
        self.command.as_ref().is_some_and(is_it) || self.pubsub.as_ref().is_some_and(is_it)
    }

    pub(crate) fn command(&mut self, words: &[&[u8]], expected: Expected) -> bool {
        let Some(outgoing) = &mut self.command else { return false };
        outgoing.command(words, expected);
        true
    }

    pub(crate) fn ping(&mut self, now: i64) {
        if self.command(&[b"PING"], Expected::Pong) {
            self.last_ping = now;
            self.ping_pending_since.get_or_insert(now);
        }
    }

    pub(crate) fn pending(&self) -> usize {
        self.command.as_ref().map_or(0, Outgoing::pending)
    }

    pub(crate) fn flush(&mut self, out: &mut Outputs) {
        if let Some(command) = &mut self.command {
            command.flush(out);
        }
        if let Some(pubsub) = &mut self.pubsub {
            pubsub.flush(out);
        }
    }

    fn command_lost(&mut self) {
        self.disconnected = true;
        self.info_pending_since = None;
        self.hello_pending_since = None;
        self.ask_pending_since = None;
    }
}
