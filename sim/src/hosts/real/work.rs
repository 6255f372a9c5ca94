//! Splits the bytes that arrive at a server into the pieces that it gets at a time.

use super::judged::Trigger;
use bytes::BytesMut;
use fencepost_machine::{ConnectionId, OperatorAction};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// A command of a client, and what it is to the judge if it may change anything.
    Command {
        by: ConnectionId,
        bytes: Vec<u8>,
        cause: Option<Trigger>,
    },
    /// Bytes of another server, and whether they may change anything.
    Raw {
        by: ConnectionId,
        bytes: Vec<u8>,
        changes: bool,
    },
    End {
        of: ConnectionId,
    },
    Operator(OperatorAction),
}

impl Work {
    /// Returns whether its changes must be told apart from others'.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self, Work::Command { cause: Some(_), .. } | Work::Operator(_))
    }
}

/// All that has arrived, as one command: clients send each with one write.
pub(super) fn next_message(by: ConnectionId, buffer: &mut BytesMut, is_raw: bool) -> Option<Work> {
    if buffer.is_empty() {
        return None;
    }
    let bytes = buffer.split().to_vec();
    Some(match is_raw {
        true => Work::Raw { by, bytes, changes: true },
        false => Work::Command { by, bytes, cause: Some(Trigger::of(by)) },
    })
}
