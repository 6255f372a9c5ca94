//! Inputs of a server.

use crate::connection::ConnectionId;

/// An input of a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input<'a> {
    /// A client connected.
    Accepted {
        /// The new connection.
        connection: ConnectionId,
        /// The client's address as `host:port`.
        peer: &'a str,
    },
    /// Bytes arrived. The server executes at most one command; `Outputs::more` if more wait.
    Received {
        /// The connection.
        connection: ConnectionId,
        /// The bytes.
        bytes: &'a [u8],
    },
    /// Process the next buffered command, after `Outputs::more`.
    Continue,
    /// The peer closed or reset the connection. Not sent for connections that the server closed.
    Closed {
        /// The connection.
        connection: ConnectionId,
    },
    /// A connection requested with [`Output::Connect`] is open.
    Connected {
        /// The connection.
        connection: ConnectionId,
    },
    /// A connection requested with [`Output::Connect`] could not be opened.
    ConnectFailed {
        /// The connection.
        connection: ConnectionId,
    },
    /// The time set with [`Output::WakeAfter`] has passed.
    Timer,
    /// Everything appended before the matching [`Output::DiskSync`] now survives a power loss.
    DiskSynced,
    /// Number of sent bytes that the network has not accepted. Sent when it changes.
    Unsent {
        /// The connection.
        connection: ConnectionId,
        /// Number of waiting bytes.
        bytes: usize,
    },
    /// An operator acts. Sent only if the machine [supports](crate::Machine::supports) the action.
    Operator {
        /// The action.
        action: OperatorAction,
    },
}

/// An action by an operator or by memory pressure. Each machine translates it into its own terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperatorAction {
    /// Deletes all data.
    FlushAll,
    /// Evicts everything that may be evicted under memory pressure.
    Evict,
    /// Promotes a replica to primary.
    Promote,
    /// Deletes all cached scripts.
    ForgetScripts,
    /// Closes all client connections.
    CloseConnections,
    /// Hands the primary role over to a replica in an orderly failover.
    HandOver,
    /// Makes the server a replica of another one, whose data it copies.
    Follow {
        /// The other server, counted from 1.
        server: u16,
    },
    /// Turns the append-only file off.
    StopLogging,
    /// Accepts writes no matter how few replicas are connected.
    WriteAlone,
    /// Closes connections that are idle for a second.
    CloseIdle,
}
