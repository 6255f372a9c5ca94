//! What can happen to a server.

use crate::connection::ConnectionId;

/// Something that happens to a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Input<'a> {
    /// A client connected. `peer` is its address as `host:port`.
    Accepted {
        /// The new connection.
        connection: ConnectionId,
        /// Where it comes from.
        peer: &'a str,
    },
    /// Bytes arrived. At most one complete command is served; if more are buffered, `Outputs::more`
    /// is set.
    Received {
        /// On which connection.
        connection: ConnectionId,
        /// What arrived.
        bytes: &'a [u8],
    },
    /// Serve the next buffered command, asked for by `Outputs::more`.
    Continue,
    /// The peer closed the connection, or it was reset. Not sent for connections that the server
    /// closed itself.
    Closed {
        /// Which connection.
        connection: ConnectionId,
    },
    /// A connection asked for by [`Output::Connect`] is open.
    Connected {
        /// Which connection.
        connection: ConnectionId,
    },
    /// A connection asked for by [`Output::Connect`] could not be opened.
    ConnectFailed {
        /// Which connection.
        connection: ConnectionId,
    },
    /// The time asked for by [`Output::WakeAfter`] has passed.
    Timer,
    /// Everything appended to the disk before the matching [`Output::DiskSync`] is now safe from
    /// power loss.
    DiskSynced,
    /// So many bytes that were sent on a connection have not been taken by the network: its peer
    /// does not read, or not fast enough. Told anew when the number changes; never told by a driver
    /// whose network takes everything.
    Unsent {
        /// On which connection.
        connection: ConnectionId,
        /// How many bytes wait.
        bytes: usize,
    },
    /// An operator does something at the server's console. Sent only if the machine
    /// [supports](crate::Machine::supports) it.
    Operator {
        /// What is to be done.
        action: OperatorAction,
    },
}

/// What an operator, or the pressure of its surroundings, does to a server from outside its
/// protocol. Each machine translates it into its own terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperatorAction {
    /// Clears all that the server holds.
    FlushAll,
    /// Makes the server give up all that it may give up under memory pressure.
    Evict,
    /// Makes the server, which follows another, the primary.
    Promote,
    /// Forgets the scripts that clients have sent.
    ForgetScripts,
    /// Closes the connections of all clients.
    CloseConnections,
    /// Changes places with a server that follows this one, in good order.
    HandOver,
    /// Follows another server from now on, and takes over what that one holds.
    Follow {
        /// The number of the other, counted from 1.
        server: u16,
    },
    /// Stops writing down what it does.
    StopLogging,
    /// Takes writes however few follow.
    WriteAlone,
    /// Closes connections that say nothing for a second.
    CloseIdle,
}
