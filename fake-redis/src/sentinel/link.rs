//! The two connections of Sentinel to an instance, and what their answers say about its being alive
//! (`instanceLink`).

use crate::protocol::outgoing::Outgoing;
use fencepost_machine::{ConnectionId, Outputs};

/// What the reply to a command will be taken for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expected {
    /// Nothing: the effect will be seen in the next INFO.
    Nothing,
    /// The reply to PING.
    Pong,
    /// The reply to INFO.
    Info,
    /// The reply to the PUBLISH of our hello.
    Published,
    /// The reply to SENTINEL IS-MASTER-DOWN-BY-ADDR.
    MasterDown,
}

/// The connections to one instance. All times are milliseconds of the wall clock.
#[derive(Debug)]
pub(crate) struct Link {
    /// The connection for commands (`cc`).
    pub(crate) command: Option<Outgoing<Expected>>,
    /// The connection that is subscribed to the hello channel (`pc`); never for Sentinels.
    pub(crate) pubsub: Option<Outgoing<Expected>>,
    /// Whether one of the wanted connections is missing.
    pub(crate) disconnected: bool,
    /// When `command` was asked for.
    pub(crate) command_since: i64,
    /// When `pubsub` was asked for.
    pub(crate) pubsub_since: i64,
    /// When anything last came over `pubsub`.
    pub(crate) pubsub_activity: i64,
    /// When connecting was last tried.
    pub(crate) last_reconnect: i64,
    /// Since when a PING waits for its first acceptable reply (`act_ping_time`). It survives a
    /// reconnection.
    pub(crate) ping_pending_since: Option<i64>,
    /// When PING was last sent.
    pub(crate) last_ping: i64,
    /// When PING was last answered acceptably.
    pub(crate) last_available: i64,
    /// When PING was last answered at all.
    pub(crate) last_pong: i64,
    /// When INFO was last sent on this connection, if it has not been answered.
    pub(crate) info_pending_since: Option<i64>,
    /// When our hello was last sent on this connection, if it has not been answered.
    pub(crate) hello_pending_since: Option<i64>,
    /// When the other Sentinel was last asked about the primary on this connection, if it has not
    /// answered.
    pub(crate) ask_pending_since: Option<i64>,
}

impl Link {
    /// A link without connections. A ping counts as pending from now on, so that an instance that
    /// can never be reached is noticed.
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

    /// Forgets what was known of the instance, after its address has changed (the end of
    /// `sentinelResetMaster`).
    pub(crate) fn reset(&mut self, now: i64, out: &mut Outputs) {
        self.close_command(out);
        self.close_pubsub(out);
        self.ping_pending_since = Some(now);
        self.last_ping = 0;
        self.last_available = now;
        self.last_pong = now;
    }

    /// Closes the command connection from our side, if there is one.
    pub(crate) fn close_command(&mut self, out: &mut Outputs) {
        if let Some(outgoing) = self.command.take() {
            outgoing.close(out);
            self.command_lost();
        }
    }

    /// Closes the subscribed connection from our side, if there is one.
    pub(crate) fn close_pubsub(&mut self, out: &mut Outputs) {
        if let Some(outgoing) = self.pubsub.take() {
            outgoing.close(out);
            self.disconnected = true;
        }
    }

    /// One of the connections is gone (`instanceLinkConnectionError`). Returns whether it was ours.
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

    /// The connection of this id, if it is one of ours.
    pub(crate) fn find(&mut self, connection: ConnectionId) -> Option<&mut Outgoing<Expected>> {
        [&mut self.command, &mut self.pubsub]
            .into_iter()
            .flatten()
            .find(|outgoing| outgoing.id == connection)
    }

    /// Whether the connection of this id is one of ours.
    pub(crate) fn has(&self, connection: ConnectionId) -> bool {
        let is_it = |outgoing: &Outgoing<Expected>| outgoing.id == connection;
        self.command.as_ref().is_some_and(is_it) || self.pubsub.as_ref().is_some_and(is_it)
    }

    /// Sends a command if the link has its command connection. Returns whether it had
    /// (`redisAsyncCommand`).
    pub(crate) fn command(&mut self, words: &[&[u8]], expected: Expected) -> bool {
        let Some(outgoing) = &mut self.command else { return false };
        outgoing.command(words, expected);
        true
    }

    /// Sends PING and notes since when an answer is due (`sentinelSendPing`).
    pub(crate) fn ping(&mut self, now: i64) {
        if self.command(&[b"PING"], Expected::Pong) {
            self.last_ping = now;
            self.ping_pending_since.get_or_insert(now);
        }
    }

    /// How many commands wait for their reply.
    pub(crate) fn pending(&self) -> usize {
        self.command.as_ref().map_or(0, Outgoing::pending)
    }

    /// Sends what has gathered on both connections.
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
