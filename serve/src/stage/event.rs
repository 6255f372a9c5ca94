use crate::staged::Sent;
use bytes::Bytes;
use fencepost_machine::ConnectionId;

pub(super) type End = (usize, ConnectionId);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    Outside,
    Server(usize),
}

pub(super) enum Event {
    Message(Message),
    Timer { server: usize, timer: u64 },
    Continue { server: usize, life: u64 },
    Synced { server: usize, life: u64 },
    Free { server: usize, life: u64 },
}

pub(super) struct Message {
    pub(super) from: Place,
    pub(super) to: Place,
    pub(super) content: Content,
}

pub(super) enum Content {
    Connect { from: End },
    Opened { to: End },
    Refused { to: End },
    Bytes { to: End, bytes: Bytes },
    Closed { to: End },
    Visit { outside: u64, peer: String },
    Data { outside: u64, bytes: Bytes },
    Left { outside: u64 },
    Answer { outside: u64, sent: Sent },
}

/// One direction of a connection. Its messages stay in order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Flow {
    FromOutside(u64),
    ToOutside(u64),
    From(End),
    To(End),
}

impl Content {
    pub(super) fn flow(&self) -> Flow {
        match self {
            Content::Connect { from } => Flow::From(*from),
            Content::Opened { to }
            | Content::Refused { to }
            | Content::Bytes { to, .. }
            | Content::Closed { to } => Flow::To(*to),
            Content::Visit { outside, .. }
            | Content::Data { outside, .. }
            | Content::Left { outside } => Flow::FromOutside(*outside),
            Content::Answer { outside, .. } => Flow::ToOutside(*outside),
        }
    }
}

impl Event {
    pub(super) fn server(&self) -> Option<usize> {
        match self {
            Event::Message(Message { to: Place::Outside, .. }) => None,
            Event::Message(Message { to: Place::Server(server), .. })
            | Event::Timer { server, .. }
            | Event::Continue { server, .. }
            | Event::Synced { server, .. }
            | Event::Free { server, .. } => Some(*server),
        }
    }
}
