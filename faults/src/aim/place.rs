//! Where a process is in its protocol, and when.

use crate::node::Node;
use crate::time::SimTime;

/// What a process is doing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    /// It wants the lock and is not granted it.
    Waiting,
    /// It acquires the lock: from the command that is granted to the end of the operation.
    Taking,
    /// It holds the lock and reads what is guarded.
    Reading,
    /// It holds the lock and works.
    Holding,
    /// It holds the lock and asks a server to extend it, or whatever else it asks meanwhile.
    Renewing,
    /// It holds the lock and writes what is guarded.
    Writing,
    /// It gives the lock back.
    Releasing,
    /// It neither has the lock nor wants it.
    Idle,
}

/// A command of a process with its reply, or a time in which it sends none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// What the process is doing.
    pub phase: Phase,
    /// Which command of the operation it is, from 1; 0 if there is none.
    pub number: u32,
    /// The machine of the process.
    pub client: Node,
    /// When, and for a command whom it asks.
    pub stretch: Stretch,
}

/// The extent of a place in time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stretch {
    /// A command and its reply, as far as either came.
    Command {
        /// Who is asked.
        server: Node,
        /// When the command was sent.
        sent: SimTime,
        /// When it reached the server.
        arrived: Option<SimTime>,
        /// When the reply was sent.
        answered: Option<SimTime>,
        /// When it reached the process.
        heard: Option<SimTime>,
    },
    /// No command is under way.
    Quiet {
        /// After this.
        from: SimTime,
        /// Before this.
        to: SimTime,
    },
}
