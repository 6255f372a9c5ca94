//! Key changes that a server reports to the judge, invisible to the simulated processes.

use crate::connection::ConnectionId;
use bytes::Bytes;

/// A change of one key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TapEvent {
    /// The key.
    pub key: Bytes,
    /// The kind of change.
    pub change: KeyChange,
    /// Value after the change, or before it if the key is gone. Only strings are rendered in full.
    pub value: Option<Bytes>,
    /// Connection that made the change; `None`: the server, its primary, its disk or an operator.
    pub by: Option<ConnectionId>,
    /// Expiry in wall-clock milliseconds; `None` if the key never expires or is gone.
    pub expires_at_ms: Option<i64>,
    /// `true` if the server acted as a primary.
    pub primary: bool,
    /// Number that the server gave the new holder, if it can serve as a fencing token.
    pub token: Option<u64>,
}

/// The kind of change.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyChange {
    /// Created, or assigned a new value.
    Granted,
    /// Only the time to live was changed.
    Extended,
    /// Deleted by a command.
    Removed,
    /// Expired by the server's clock. Reported when the server notices.
    Expired,
    /// Evicted to free memory.
    Evicted,
    /// Removed by a flush.
    Flushed,
    /// Discarded because the server copied another one's data.
    Discarded,
    /// Loaded from disk or copied from another server.
    Restored,
}
