//! What happens in the middle of a long script: a driver with a real clock is asked from time to
//! time to look at its sockets, and those who are there are answered `-BUSY` or, if that is what
//! they want, end the script. Must never know scripts or sockets.
//!
//! This is `processEventsWhileBlocked` in networking.c. The script's commands are whole when the
//! driver is asked: between two of them everything may be done that changes no data, and nothing
//! else is.

use crate::client::ClientKey;
use crate::server::Server;
use fencepost_machine::{ConnectionId, Input, Outputs};
use std::fmt::Debug;
use std::time::Duration;

/// A driver that can be asked in the middle of an input. A machine without one is a function of its
/// inputs, and ends long scripts itself.
pub trait Attendant: Debug {
    /// A real clock that only goes forward, from any origin.
    fn now(&self) -> Duration;

    /// Whether the server has to end.
    fn is_leaving(&self) -> bool;

    /// Hands on what arrived, and carries out what is wanted because of it.
    fn attend(&self, interlude: &mut Interlude<'_>);
}

/// A server in the middle of a long script.
#[derive(Debug)]
pub struct Interlude<'s> {
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

impl Interlude<'_> {
    /// Whether bytes of this connection can be handed on now. Those of the script's own client and
    /// of connections that the server opened itself have to stay where they are.
    pub fn takes(&self, connection: ConnectionId) -> bool {
        let key = self.server.connections.get(&connection);
        key.is_some_and(|key| self.server.busy.is_some_and(|busy| busy.caller != *key))
    }

    /// As [`crate::Machine::handle`], at the instant at which the script began. Only `Accepted`,
    /// `Received`, `Continue` and `DiskSynced` mean anything.
    pub fn handle(&mut self, input: Input<'_>, out: &mut Outputs) {
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
            attendant.attend(&mut Interlude { server: self });
        }
        self.busy.take().unwrap_or(busy)
    }
}
