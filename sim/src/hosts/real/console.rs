//! Connections to a real server that no network carries, for the judge and the operator.

use super::judged::{Key, Reading, Trigger};
use super::work::{Work, next_message};
use bytes::BytesMut;
use fencepost_machine::wording::{self, Wording};
use fencepost_machine::{ConnectionId, KeyChange, Notice, OperatorAction};
use std::net::Ipv4Addr;

pub(super) type Channel = usize;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ask {
    /// A connection to the port of clients.
    Open(Channel),
    Send(Channel, Vec<u8>),
}

pub(super) enum Heard {
    /// `None` if the server did not answer.
    Reading(Option<Reading>),
    Notice(Notice),
}

/// Events at a server, besides clients' commands, that may change its locks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Changes {
    pub(super) by_ends: bool,
    /// Something that the server does by itself and syncs to its disk.
    pub(super) by_syncs: bool,
}

/// It is told of the connections that it asks for, and asks again.
pub(super) trait Console {
    fn is_ready(&self) -> bool;

    /// Called until it is, and again after a connection closed.
    fn connects(&mut self) -> Vec<Ask>;

    /// What to send there.
    fn opened(&mut self, _: Channel) -> Vec<Ask> {
        Vec::new()
    }

    fn closed(&mut self, channel: Channel) -> Vec<Heard>;

    fn read(&mut self) -> Vec<Ask>;

    fn is_waiting(&self) -> bool;

    fn hears(&mut self, channel: Channel, bytes: &[u8]) -> (Vec<Ask>, Vec<Heard>);

    /// Triggers other than clients' commands that may change the server's locks.
    fn changes(&self) -> Changes {
        Changes::default()
    }

    /// Returns whether keys expire by the server's wall clock, without a command.
    fn expires_by_wall(&self) -> bool {
        false
    }

    /// The next thing that has arrived over a connection; `None` if nothing whole has.
    fn next_work(&mut self, by: ConnectionId, buffer: &mut BytesMut, is_raw: bool) -> Option<Work> {
        next_message(by, buffer, is_raw)
    }

    /// Returns whether a client's bytes show that it is a server, too.
    fn begins_replication(&self, _: &[u8]) -> bool {
        false
    }

    /// How a key was left that is another one now, or gone, and by whom if the console knows.
    /// `None`: it was overwritten, or the trigger says how.
    fn left(&self, _before: &Key, _now: Option<&Key>) -> Option<(KeyChange, Option<ConnectionId>)> {
        None
    }

    fn meets(&mut self, _: ConnectionId, _: PeerAddress) {}

    fn supports(&self, _: OperatorAction) -> bool {
        false
    }

    /// `None` if nothing is to be read because of it.
    fn types(&mut self, _: OperatorAction) -> (Vec<Ask>, Trigger) {
        (Vec::new(), Trigger::Operator(None))
    }

    /// Recognizes messages of a client that are only a sign of life.
    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |_| false
    }

    fn wording(&self) -> Wording {
        wording::lines
    }
}

/// The end of a connection at a client, as servers name it.
pub(super) type PeerAddress = (Ipv4Addr, u16);

/// Reads `10.0.0.5:40001`, with or without a slash in front.
pub(super) fn peer_address(text: &str) -> Option<PeerAddress> {
    let (host, port) = text.trim_start_matches('/').rsplit_once(':')?;
    Some((host.parse().ok()?, port.parse().ok()?))
}
