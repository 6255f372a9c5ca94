//! A request of a client that waits for its turn.

use crate::code::Operation;
use bytes::Bytes;
use fencepost_machine::ConnectionId;

/// A request that has not been answered.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) connection: ConnectionId,
    pub(crate) cxid: i32,
    pub(crate) what: What,
}

/// What a request waits for.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// Its turn.
    Read(Operation, Bytes),
    /// Its transaction.
    Change,
    /// Its transaction.
    OpenSession,
    /// Its transaction.
    CloseSession,
    /// The leader's word.
    Sync(Bytes),
}
