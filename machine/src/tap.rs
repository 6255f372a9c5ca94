//! Changes of keys, as servers report them for the history. Simulated processes cannot see them.

use crate::connection::ConnectionId;
use bytes::Bytes;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TapEvent {
    pub key: Bytes,
    pub change: KeyChange,
    /// Value after the change, or before a removal. The format depends on the server.
    pub value: Option<Bytes>,
    /// Connection whose request made the change; `None` for other changes, such as an expiry.
    pub by: Option<ConnectionId>,
    /// Expiry in wall-clock milliseconds, if the key still exists and has one.
    pub expires_at_ms: Option<i64>,
    pub primary: bool,
    /// Number of the grant that can serve as a fencing token, if the server gave one.
    pub token: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyChange {
    Granted,
    /// The change affects only the key's time to live.
    Extended,
    Removed,
    /// The key has expired. A server reports an expiry only when it notices the expiry.
    Expired,
    Evicted,
    Flushed,
    /// The server discarded the key, for example because it copied another server's data.
    Discarded,
    /// The key is back without a new grant, for example loaded from disk or copied from a server.
    Restored,
}
