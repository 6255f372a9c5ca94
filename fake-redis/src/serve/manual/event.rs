//! Events in the servers' simulated world.

use bytes::Bytes;
use fencepost_machine::ConnectionId;

pub(super) type End = (usize, ConnectionId);

pub(super) enum Event {
    Timer { server: usize, timer: u64 },
    Continue { server: usize },
    Synced { server: usize, life: u64 },
    Knock { from: End, server: usize },
    Opened { to: End },
    Refused { to: End },
    Bytes { to: End, bytes: Bytes },
    Closed { to: End },
    Visit { server: usize, outside: u64, peer: String },
    Data { server: usize, outside: u64, bytes: Bytes },
    Left { server: usize, outside: u64 },
}

impl Event {
    pub(super) fn server(&self) -> usize {
        match self {
            Event::Timer { server, .. }
            | Event::Continue { server }
            | Event::Synced { server, .. }
            | Event::Knock { server, .. }
            | Event::Visit { server, .. }
            | Event::Data { server, .. }
            | Event::Left { server, .. } => *server,
            Event::Opened { to }
            | Event::Refused { to }
            | Event::Bytes { to, .. }
            | Event::Closed { to } => to.0,
        }
    }

    pub(super) fn is_of_the_network(&self) -> bool {
        !matches!(self, Event::Timer { .. } | Event::Continue { .. } | Event::Synced { .. })
    }
}
