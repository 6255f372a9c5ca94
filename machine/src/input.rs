use crate::connection::ConnectionId;
use crate::sync_error::{SyncError, SyncOf};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input<'a> {
    Accepted {
        connection: ConnectionId,
        /// Address of the client or server that opened the connection, as `host:port`.
        peer: &'a str,
    },
    /// Bytes from a client or server. The machine sets `Outputs::more` if complete commands remain.
    Received {
        connection: ConnectionId,
        bytes: &'a [u8],
    },
    /// Makes the machine execute the next buffered command. Sent while `Outputs::more` is set.
    Continue,
    Closed {
        /// Connection that has ended, for example because the peer closed it.
        connection: ConnectionId,
    },
    Connected {
        connection: ConnectionId,
    },
    ConnectFailed {
        connection: ConnectionId,
    },
    /// Boot, or the end of the time set with [`Output::WakeAfter`].
    Timer,
    /// A sync has finished. Data appended before its [`Output::DiskSync`] survives a power loss.
    DiskSynced,
    DiskFailed {
        of: SyncOf,
        error: SyncError,
    },
    Unsent {
        connection: ConnectionId,
        /// Number of sent bytes that the driver has not yet written to the network.
        bytes: usize,
    },
    Operator {
        action: OperatorAction,
    },
}

/// An action of an operator. Each machine defines its exact effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperatorAction {
    FlushAll,
    /// Evicts all data that memory pressure may evict.
    Evict,
    Promote,
    ForgetScripts,
    CloseConnections,
    /// Transfers the primary role to a replica in an orderly failover.
    HandOver,
    Follow {
        /// Number of the other server, counted from 1.
        server: u16,
    },
    StopLogging,
    /// Accepts writes regardless of the number of connected replicas.
    WriteAlone,
    /// Makes the server close idle connections.
    CloseIdle,
}
