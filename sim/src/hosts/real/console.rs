//! Connections to real servers for the judge and the operator, outside the simulated network.

use super::judged::{Key, Reading, Trigger};
use super::work::{Work, next_message};
use bytes::BytesMut;
use fencepost_machine::wording::{self, Wording};
use fencepost_machine::{ConnectionId, KeyChange, Notice, OperatorAction};
use std::net::SocketAddrV4;

pub(super) type Channel = usize;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ConsoleRequest {
    Open(Channel),
    Send(Channel, Vec<u8>),
}

pub(super) enum ConsoleReply {
    Reading(Option<Reading>),
    Notice(Notice),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Changes {
    pub(super) by_ends: bool,
    pub(super) by_syncs: bool,
    /// `true` for a standby, which syncs its primary's changes before applying them.
    pub(super) by_replay: bool,
}

pub(super) trait Console {
    fn is_ready(&self) -> bool;

    /// The machine calls this function while the console is not ready and has no open connection.
    fn channels_to_open(&mut self) -> Vec<ConsoleRequest>;

    fn opened(&mut self, _: Channel) -> Vec<ConsoleRequest> {
        Vec::new()
    }

    fn closed(&mut self, channel: Channel) -> Vec<ConsoleReply>;

    fn read(&mut self) -> Vec<ConsoleRequest>;

    fn is_waiting(&self) -> bool;

    fn receive(
        &mut self,
        channel: Channel,
        bytes: &[u8],
    ) -> (Vec<ConsoleRequest>, Vec<ConsoleReply>);

    fn changes(&self) -> Changes {
        Changes::default()
    }

    fn expires_by_wall(&self) -> bool {
        false
    }

    fn next_work(&mut self, by: ConnectionId, buffer: &mut BytesMut, is_raw: bool) -> Option<Work> {
        next_message(by, buffer, is_raw)
    }

    fn is_replication_request(&self, _: &[u8]) -> bool {
        false
    }

    /// Returns `true` if this answer states that the request changed nothing. A server may send it
    /// between the commit of another session's release and the answer to that commit.
    fn has_changed_nothing(&self, _answer: &[u8]) -> bool {
        false
    }

    /// Returns how a key was removed, and by which connection. Returns `None` if the trigger
    /// determines the change, or if the key was only overwritten.
    fn removal_of(
        &self,
        _before: &Key,
        _now: Option<&Key>,
    ) -> Option<(KeyChange, Option<ConnectionId>)> {
        None
    }

    fn note_peer(&mut self, _: ConnectionId, _: SocketAddrV4) {}

    fn supports(&self, _: OperatorAction) -> bool {
        false
    }

    fn operate(&mut self, _: OperatorAction) -> (Vec<ConsoleRequest>, Trigger) {
        (Vec::new(), Trigger::Operator(None))
    }

    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |_| false
    }

    fn wording(&self) -> Wording {
        wording::lines
    }
}

pub(super) fn peer_address(text: &str) -> Option<SocketAddrV4> {
    text.trim_start_matches('/').parse().ok()
}
