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

    /// Returns whether the server supports an action. Faults with other actions are skipped.
    fn supports(&self, _action: OperatorAction) -> bool {
        false
    }

    /// Returns whether the server is fully operational. Drivers announce a server then.
    fn is_ready(&self) -> bool {
        true
    }

    /// Returns whether the server will send a client something unasked, such as an expiry.
    fn will_send(&self) -> bool {
        false
    }

    /// Recognizes messages of a client that are only a sign of life.
    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |_| false
    }

    /// Announces the port of the next connection, for servers that listen at several ports.
    fn dialled(&mut self, _connection: ConnectionId, _port: u16) {}

    /// Cuts the power: data outside a [`crate::Disk`] reverts to its last sync.
    fn lose_power(&mut self) {}

    /// Renders the bytes of its connections, for pictures.
    fn wording(&self) -> Wording {
        wording::lines
    }
}
