//! What a server tells the judge. Nobody in the simulated world sees it.

use crate::connection::ConnectionId;
use bytes::Bytes;

/// A change of one key, told to the judge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TapEvent {
    /// The key.
    pub key: Bytes,
    /// What happened to it.
    pub change: KeyChange,
    /// The string value after the change, or before it if the key is gone. For other types, a short
    /// rendering of the content.
    pub value: Option<Bytes>,
    /// The connection whose command did it; `None` for the server itself, its primary, its disk or
    /// an operator.
    pub by: Option<ConnectionId>,
    /// When the key will expire, in wall-clock milliseconds; `None` for never or gone.
    pub expires_at_ms: Option<i64>,
    /// Whether the server was acting as a primary.
    pub primary: bool,
    /// The number that the server gave the new holder, if its protocol has one that can serve as
    /// a fencing token.
    pub token: Option<u64>,
}

/// What a server did with a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyChange {
    /// It came to be, or has a new value.
    Granted,
    /// Its time to live was set anew, and nothing else.
    Extended,
    /// A command deleted it.
    Removed,
    /// Its time to live ran out by the server's clock (told when the server notices).
    Expired,
    /// Evicted to free memory.
    Evicted,
    /// Removed because everything was cleared.
    Flushed,
    /// Discarded because the server took over the data of another.
    Discarded,
    /// Loaded from disk, or taken over from another server.
    Restored,
}
