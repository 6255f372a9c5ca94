//! The activity of a process at a given time, such as waiting for the reply to a command.

use crate::node::Node;
use crate::time::SimTime;

/// The phase of a process in its protocol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// The process has requested the lock and has not been granted it.
    Waiting,
    /// The process has sent the command that grants it the lock, and `acquire` has not returned.
    Taking,
    /// The process holds the lock and reads the guarded data.
    Reading,
    /// The process holds the lock and works.
    Holding,
    /// The process holds the lock and sends an extension or any other command.
    Renewing,
    /// The process holds the lock and writes the guarded data.
    Writing,
    /// The process releases the lock.
    Releasing,
    /// The process neither holds nor requests the lock.
    Idle,
}

/// A process's command and its reply, or an interval without a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The phase of the process in this place.
    pub phase: Phase,
    /// Number of the command in its operation, from 1; 0 without a command.
    pub number: u32,
    /// The machine of the process.
    pub client: Node,
    /// The time that the process spent in this place and, for a command, the server.
    pub stretch: Stretch,
}

/// The interval during which a process was in a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stretch {
    /// The interval of a command and its reply. A time is `None` if the step never happened.
    Command {
        /// The server that receives the command.
        server: Node,
        /// Time at which the process sent the command.
        sent: SimTime,
        /// Time at which the command arrived at the server.
        arrived: Option<SimTime>,
        /// Time at which the server sent the reply.
        answered: Option<SimTime>,
        /// Time at which the reply arrived at the process.
        heard: Option<SimTime>,
    },
    /// An interval without a command.
    Quiet {
        /// Start of the interval.
        from: SimTime,
        /// End of the interval.
        to: SimTime,
    },
}
