use crate::clocks::Now;
use crate::connection::ConnectionId;
use crate::input::{Input, OperatorAction};
use crate::output::Outputs;
use crate::sync_error::SyncError;
use crate::wording::{self, Wording};

/// A server without I/O. Simulations and real TCP servers run the same machine.
pub trait Machine {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs);

    /// Returns `false` for an action that fault injection must skip now.
    fn supports(&self, _action: OperatorAction) -> bool {
        false
    }

    /// Returns `true` if the server serves clients.
    fn is_ready(&self) -> bool {
        true
    }

    /// Returns `true` if the server may send a message without further input from a client, for
    /// example when a lock expires.
    fn will_send(&self) -> bool {
        false
    }

    /// Returns a predicate that recognizes a client's heartbeats.
    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |_| false
    }

    /// Stops the server, as SIGTERM does. A server that saves data on exit writes it to `out`.
    fn shut_down(&mut self, _now: Now, _out: &mut Outputs) {}

    /// Tells a server with several ports to which port a client has connected.
    fn dialled(&mut self, _connection: ConnectionId, _port: u16) {}

    /// Simulates a power loss for data outside a [`crate::Disk`].
    fn lose_power(&mut self) {}

    /// Like [`crate::Disk::fail_syncs`], for data outside a [`crate::Disk`].
    fn fail_syncs(&mut self, _error: Option<SyncError>) {}

    fn has_failed_sync(&self) -> bool {
        false
    }

    fn wording(&self) -> Wording {
        wording::lines
    }
}
