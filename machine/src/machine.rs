//! The trait of a server.

use crate::clocks::Now;
use crate::connection::ConnectionId;
use crate::input::{Input, OperatorAction};
use crate::output::Outputs;
use crate::wording::{self, Wording};

/// A server without I/O: the same machine runs in unit tests, in both engines and behind real TCP.
pub trait Machine {
    /// Handles one input at time `now` and appends the requested outputs.
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs);

    /// Returns whether the server supports an operator's action. Faults with other actions are
    /// skipped.
    fn supports(&self, _action: OperatorAction) -> bool {
        false
    }

    /// Returns whether the server is fully operational: it has loaded its data and, in a cluster,
    /// found its leader. Drivers announce a server once this is true.
    fn is_ready(&self) -> bool {
        true
    }

    /// Returns whether the server will send something to a client without another request: a
    /// blocking command that times out, a reply that waits for a disk sync, an expiry that notifies
    /// a client. Messages between servers do not count.
    fn will_send(&self) -> bool {
        false
    }

    /// Recognizes messages of a client that are only a sign of life, and no attempt at anything.
    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |_| false
    }

    /// A connection that is to be accepted next was made to this port. For servers that listen at
    /// several ports.
    fn dialled(&mut self, _connection: ConnectionId, _port: u16) {}

    /// The power of its host fails: the machine is dropped next, and what it keeps elsewhere than
    /// on a [`crate::Disk`] is to be as it was last synced.
    fn lose_power(&mut self) {}

    /// How the bytes of its connections are put into words, for pictures.
    fn wording(&self) -> Wording {
        wording::lines
    }
}
