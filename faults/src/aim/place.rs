//! The position of a process in its protocol, and the time.

use crate::node::Node;
use crate::time::SimTime;

/// The phase of a process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// Requests the lock and is not granted it.
    Waiting,
    /// From the command that is granted to the end of the operation.
    Taking,
    /// Holds the lock and reads the guarded data.
    Reading,
    /// Holds the lock and works.
    Holding,
    /// Holds the lock and sends an extension, or any other command.
    Renewing,
    /// Holds the lock and writes the guarded data.
    Writing,
    /// Releases the lock.
    Releasing,
    /// Neither has nor requests the lock.
    Idle,
}

/// A command of a process with its reply, or a time without one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The phase of the process.
    pub phase: Phase,
    /// The number of the command in its operation, from 1; 0 without a command.
    pub number: u32,
    /// The machine of the process.
    pub client: Node,
    /// The time, and for a command its server.
    pub stretch: Stretch,
}

/// The extent of a place in time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stretch {
    /// A command and its reply; `None` for a step that never happened.
    Command {
        /// The server.
        server: Node,
        /// The send time.
        sent: SimTime,
        /// The arrival at the server.
        arrived: Option<SimTime>,
        /// The send time of the reply.
        answered: Option<SimTime>,
        /// The arrival of the reply.
        heard: Option<SimTime>,
    },
    /// No command is in progress.
    Quiet {
        /// Its start.
        from: SimTime,
        /// Its end.
        to: SimTime,
    },
}
