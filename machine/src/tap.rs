//! Changes of keys, which a server reports to the judge. Simulated processes cannot see them.

use crate::connection::ConnectionId;
use bytes::Bytes;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TapEvent {
    pub key: Bytes,
    pub change: KeyChange,
    /// Value after the change, or before a removal. The format depends on the server.
    pub value: Option<Bytes>,
    /// Connection that made the change; `None` if no client made it, as for an expiry.
    pub by: Option<ConnectionId>,
    /// Expiry in wall-clock milliseconds; `None` if the key never expires or no longer exists.
    pub expires_at_ms: Option<i64>,
    pub primary: bool,
    /// Number that the server gave to the grant and that can serve as a fencing token; `None`
    /// without such a number.
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
    /// The key is back without a new grant, for example loaded from disk or copied from another
    /// server.
    Restored,
}
