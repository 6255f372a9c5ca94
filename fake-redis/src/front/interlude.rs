//! What happens in the middle of a long script or while data is loaded: a driver with a real clock
//! is asked from time to time to look at its sockets, and those who are there are answered `-BUSY`
//! or `-LOADING`, or end the script or the server if that is what they want.
//!
//! This is `processEventsWhileBlocked` in networking.c. The script's commands are whole when the
//! driver is asked: between two of them everything may be done that changes no data, and nothing
//! else is.

use crate::state::busy::Busy;
use crate::state::server::Server;
use fencepost_machine::{Attendant, ConnectionId, Input, Interlude, Outputs};

/// A server in the middle of a long script, or while it loads its data.
struct Interruption<'s> {
    server: &'s mut Server,
}

impl Interlude for Interruption<'_> {
    /// Bytes of the script's own client and of connections that the server opened itself have to
    /// stay where they are.
    fn takes(&self, connection: ConnectionId) -> bool {
        let key = self.server.roster.behind(connection);
        let script = self.server.long_script.interrupted();
        key.is_some_and(|key| script.is_none_or(|busy| busy.caller != key))
    }

    fn handle(&mut self, input: Input<'_>, out: &mut Outputs) {
        let server = &mut *self.server;
        let before = server.turn;
        server.outbox.swap(out);
        match input {
            _ if server.life.is_over() => {}
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
        server.outbox.swap(out);
        server.turn.resume(before);
    }
}

/// Has the attendant look after the others; what became of the script meanwhile.
pub(crate) fn attend(server: &mut Server, attendant: &dyn Attendant, busy: Busy) -> Busy {
    server.long_script.interrupt(busy);
    if attendant.is_leaving() {
        server.stop();
    } else {
        attendant.attend(&mut Interruption { server: &mut *server });
    }
    server.long_script.go_on().unwrap_or(busy)
}

/// Has the attendant look after others while data is loaded.
pub(crate) fn attend_loading(server: &mut Server, attendant: &dyn Attendant) {
    attendant.attend(&mut Interruption { server });
}
