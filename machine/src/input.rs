//! Inputs of a server ([`Input`]).

use crate::connection::ConnectionId;
use crate::sync_error::{SyncError, SyncOf};

/// An event that a driver passes to a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input<'a> {
    /// A client has connected.
    Accepted {
        /// Id of the new connection.
        connection: ConnectionId,
        /// Address of the client as `host:port`.
        peer: &'a str,
    },
    /// Bytes have arrived. The server executes one command, and sets `Outputs::more` if it needs a
    /// `Continue` to execute the next command.
    Received {
        /// Id of the connection.
        connection: ConnectionId,
        /// Received bytes, which may end within a command.
        bytes: &'a [u8],
    },
    /// The driver asks for the next buffered command, after `Outputs::more`.
    Continue,
    /// The peer has closed or reset the connection. The server's own closes are not reported.
    Closed {
        /// Id of the closed connection.
        connection: ConnectionId,
    },
    /// A connection requested with [`Output::Connect`] is open.
    Connected {
        /// Id of the open connection.
        connection: ConnectionId,
    },
    /// A connection requested with [`Output::Connect`] could not be opened.
    ConnectFailed {
        /// Id of the requested connection.
        connection: ConnectionId,
    },
    /// The time set with [`Output::WakeAfter`] has passed.
    Timer,
    /// A sync has finished. Data appended before its [`Output::DiskSync`] survives a power loss.
    DiskSynced,
    /// A sync has failed.
    DiskFailed {
        /// The output that the sync belongs to.
        of: SyncOf,
        /// Error of the sync.
        error: SyncError,
    },
    /// The number of sent bytes that the network has not yet accepted has changed.
    Unsent {
        /// Id of the connection.
        connection: ConnectionId,
        /// Current number of sent bytes that the network has not accepted.
        bytes: usize,
    },
    /// An operator performs an action that the machine [supports](crate::Machine::supports).
    Operator {
        /// Action to perform.
        action: OperatorAction,
    },
}

/// An action by an operator or by memory pressure. Each machine defines its exact effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperatorAction {
    /// Deletes all data.
    FlushAll,
    /// Evicts all data that memory pressure may evict.
    Evict,
    /// Promotes a replica to primary.
    Promote,
    /// Deletes all cached scripts.
    ForgetScripts,
    /// Closes all client connections.
    CloseConnections,
    /// Hands the primary role over to a replica in an orderly failover.
    HandOver,
    /// Makes the server a replica of another server, whose data it copies.
    Follow {
        /// Number of the other server, counted from 1.
        server: u16,
    },
    /// Turns off the append-only file.
    StopLogging,
    /// Accepts writes regardless of the number of connected replicas.
    WriteAlone,
    /// Closes connections that are idle for a second.
    CloseIdle,
}
