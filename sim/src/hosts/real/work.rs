//! Splits a server's input into pieces. The machine passes them on one at a time.

use super::judged::Trigger;
use bytes::BytesMut;
use fencepost_machine::{ConnectionId, OperatorAction};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Work {
    /// Bytes from a client. `cause` is `None` if the console need not read the locks afterwards.
    Command {
        by: ConnectionId,
        bytes: Vec<u8>,
        cause: Option<Trigger>,
    },
    /// Bytes from another server. `changes` is `true` if the console must then read the locks.
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
