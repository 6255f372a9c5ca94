use crate::node::Node;
use crate::time::SimTime;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Phase {
    Waiting,
    /// The process has sent the command that grants the lock, but `acquire` has not returned.
    Taking,
    Reading,
    Holding,
    /// The process holds the lock and sends a command to a lock server, such as an extension.
    Renewing,
    Writing,
    Releasing,
    Idle,
}

/// A command of a process, or an interval in which the process waits, holds the lock, or is idle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    pub phase: Phase,
    /// Number of the command within its phase, from 1, at most 8; 0 for an interval.
    pub number: u32,
    pub client: Node,
    pub stretch: Stretch,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stretch {
    /// A command and its reply. The time of a step that never happened is `None`.
    Command {
        server: Node,
        sent: SimTime,
        arrived: Option<SimTime>,
        answered: Option<SimTime>,
        heard: Option<SimTime>,
    },
    Quiet {
        from: SimTime,
        to: SimTime,
    },
}
