//! Key changes that a server reports to the judge. Simulated processes cannot see them.

use crate::connection::ConnectionId;
use bytes::Bytes;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TapEvent {
    pub key: Bytes,
    pub change: KeyChange,
    /// Value after the change, or before a removal. Only string values are complete.
    pub value: Option<Bytes>,
    /// Connection that made the change; `None` if a server, the disk or an operator did.
    pub by: Option<ConnectionId>,
    /// Expiry in wall-clock milliseconds; `None` if the key never expires or is gone.
    pub expires_at_ms: Option<i64>,
    pub primary: bool,
    /// Number of the grant, if the server assigns one that can serve as a fencing token.
    pub token: Option<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyChange {
    Granted,
    /// Only the key's time to live changed.
    Extended,
    Removed,
    /// Servers report an expiry only when they notice it.
    Expired,
    Evicted,
    Flushed,
    /// The server discarded the key because it copied another server's data.
    Discarded,
    /// The server loaded the key from disk or copied it from another server.
    Restored,
}
