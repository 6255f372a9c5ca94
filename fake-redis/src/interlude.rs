//! What happens in the middle of a long script: a driver with a real clock is asked from time to
//! time to look at its sockets, and those who are there are answered `-BUSY` or, if that is what
//! they want, end the script.
//!
//! This is `processEventsWhileBlocked` in networking.c. The script's commands are whole when the
//! driver is asked: between two of them everything may be done that changes no data, and nothing
//! else is.

use crate::client::ClientKey;
use crate::server::Server;
use fencepost_machine::{Attendant, ConnectionId, Input, Interlude, Outputs};

/// A server in the middle of a long script.
struct Interruption<'s> {
    server: &'s mut Server,
}

/// What the server knows of the script meanwhile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Busy {
    /// Whose script it is: it is not served, and not forgotten.
    pub(crate) caller: ClientKey,
    /// Whether the script has called a command that writes.
    pub(crate) has_written: bool,
    /// SCRIPT KILL.
    pub(crate) is_killed: bool,
}

impl Interlude for Interruption<'_> {
    /// Bytes of the script's own client and of connections that the server opened itself have to
    /// stay where they are.
    fn takes(&self, connection: ConnectionId) -> bool {
        let key = self.server.connections.get(&connection);
        key.is_some_and(|key| self.server.busy.is_some_and(|busy| busy.caller != *key))
    }

    fn handle(&mut self, input: Input<'_>, out: &mut Outputs) {
        let server = &mut *self.server;
        let (acting, offset_before) = (server.acting, server.replication.offset_before);
        std::mem::swap(&mut server.outputs, out);
        match input {
            _ if server.stopped => {}
            Input::Accepted { connection, peer } => server.accept(connection, peer),
            Input::Received { connection, bytes } => {
                server.receive(connection, bytes);
                server.serve_next();
            }
            Input::Continue => server.serve_next(),
            Input::DiskSynced => server.disk_synced(),
            _ => {}
        }
        server.finish_interlude();
        std::mem::swap(&mut server.outputs, out);
        (server.acting, server.replication.offset_before) = (acting, offset_before);
    }
}

impl Server {
    /// Has the attendant look after the others; what became of the script meanwhile.
    pub(crate) fn attend(&mut self, attendant: &dyn Attendant, busy: Busy) -> Busy {
        self.busy = Some(busy);
        if attendant.is_leaving() {
            self.stop();
        } else {
            attendant.attend(&mut Interruption { server: self });
        }
        self.busy.take().unwrap_or(busy)
    }
}
