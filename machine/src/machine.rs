use crate::clocks::Now;
use crate::connection::ConnectionId;
use crate::input::{Input, OperatorAction};
use crate::output::Outputs;
use crate::sync_error::SyncError;
use crate::wording::{self, Wording};

/// A server without I/O. Simulations and real TCP servers run the same machine.
pub trait Machine {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs);

    /// Fault injection skips unsupported actions.
    fn supports(&self, _action: OperatorAction) -> bool {
        false
    }

    /// Drivers announce a server once it is ready.
    fn is_ready(&self) -> bool {
        true
    }

    /// Returns `true` if the server will send an unrequested message, such as notice of an expiry.
    fn will_send(&self) -> bool {
        false
    }

    /// Returns a function that recognises a client's heartbeats.
    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |_| false
    }

    /// Announces the port of the next connection, for servers that listen on several ports.
    fn dialled(&mut self, _connection: ConnectionId, _port: u16) {}

    /// Reverts data outside a [`crate::Disk`] to its last sync.
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
