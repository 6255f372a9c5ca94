//! The trait of a server, and the two clocks that it is told.

use crate::input::{Input, OperatorAction};
use crate::output::Outputs;
use crate::wording::{self, Wording};

/// Names a connection of one server, for as long as it is open. Given by the driver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ConnectionId(pub u32);

impl ConnectionId {
    /// Whether the server accepted the connection, rather than opening it.
    pub fn was_accepted(self) -> bool {
        self.0 < u32::MAX / 2
    }
}

/// The wall clock of the server's host: microseconds since the Unix epoch. It may be stepped in
/// either direction between two inputs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct WallTime(pub i64);

impl WallTime {
    /// Whole milliseconds since the Unix epoch, rounded down.
    pub fn as_millis(self) -> i64 {
        self.0.div_euclid(1_000)
    }
}

/// The monotonic clock of the server's host: microseconds since some instant before the server
/// started. It never goes back; it may run fast or slow, and stands still while the host is
/// suspended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct MonotonicTime(pub u64);

/// What both clocks of the server's host show.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Now {
    /// The wall clock.
    pub wall: WallTime,
    /// The monotonic clock.
    pub monotonic: MonotonicTime,
}

impl Now {
    /// Both clocks of a host whose wall clock was never stepped: the monotonic clock counts from
    /// the epoch too.
    pub fn unstepped(wall: WallTime) -> Now {
        Now { wall, monotonic: MonotonicTime(u64::try_from(wall.0).unwrap_or(0)) }
    }
}

/// A server without a world of its own: the same machine runs in unit tests, in both engines and
/// behind real TCP.
pub trait Machine {
    /// Takes one input at the instant `now` and says what is to be done about it.
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs);

    /// Whether the server has an answer to an operator's action. A fault that it has no answer to
    /// does not happen.
    fn supports(&self, _action: OperatorAction) -> bool {
        false
    }

    /// Whether an instant lies ahead at which the server sends something to a client though nobody
    /// asks it again: a blocking command whose time runs out, an answer that waits until the disk
    /// has synced, the expiry of a key that somebody is told of. What servers send each other does
    /// not count.
    fn will_send(&self) -> bool {
        false
    }

    /// Tells bytes of a client that say no more than that it lives. To send them is no attempt at
    /// anything.
    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |_| false
    }

    /// How the bytes of its connections are put into words, for pictures.
    fn wording(&self) -> Wording {
        wording::lines
    }
}
