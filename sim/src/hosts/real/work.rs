//! Splits the bytes for a server into pieces. The machine passes on one piece at a time.

use super::judged::Trigger;
use bytes::BytesMut;
use fencepost_machine::{ConnectionId, OperatorAction};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// Bytes from a client. `cause` is `None` if the command cannot change a lock.
    Command {
        by: ConnectionId,
        bytes: Vec<u8>,
        cause: Option<Trigger>,
    },
    /// Bytes from another server. `changes` is `true` if the bytes may change a lock.
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
    pub(super) fn is_alone(&self) -> bool {
        matches!(self, Work::Command { cause: Some(_), .. } | Work::Operator(_))
    }
}

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
