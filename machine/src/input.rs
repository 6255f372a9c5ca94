//! Inputs of a server ([`Input`]).

use crate::connection::ConnectionId;
use crate::sync_error::{SyncError, SyncOf};

/// An event that a driver passes to a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input<'a> {
    Accepted {
        connection: ConnectionId,
        /// Address of the client as `host:port`.
        peer: &'a str,
    },
    /// The server executes one command, and sets `Outputs::more` if it needs a `Continue` for the
    /// next.
    Received {
        connection: ConnectionId,
        /// Received bytes, which may end within a command.
        bytes: &'a [u8],
    },
    /// The driver asks for the next buffered command, after `Outputs::more`.
    Continue,
    Closed {
        /// Connection that the peer has closed or reset. The server's own closes are not reported.
        connection: ConnectionId,
    },
    Connected {
        /// Connection requested with [`Output::Connect`], which is now open.
        connection: ConnectionId,
    },
    ConnectFailed {
        /// Connection requested with [`Output::Connect`], which could not be opened.
        connection: ConnectionId,
    },
    /// The time set with [`Output::WakeAfter`] has passed.
    Timer,
    /// A sync has finished. Data appended before its [`Output::DiskSync`] survives a power loss.
    DiskSynced,
    DiskFailed {
        /// Output whose sync has failed.
        of: SyncOf,
        error: SyncError,
    },
    Unsent {
        connection: ConnectionId,
        /// New number of sent bytes that the network has not accepted.
        bytes: usize,
    },
    Operator {
        /// Action that the machine [supports](crate::Machine::supports).
        action: OperatorAction,
    },
}

/// An action by an operator or by memory pressure. Each machine defines its exact effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperatorAction {
    FlushAll,
    /// Evicts all data that memory pressure may evict.
    Evict,
    Promote,
    ForgetScripts,
    CloseConnections,
    /// Hands the primary role over to a replica in an orderly failover.
    HandOver,
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
