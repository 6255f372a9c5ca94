//! Serves other clients during a long script or load (`processEventsWhileBlocked` in networking.c).
//! Most of these clients' commands get `-BUSY` or `-LOADING`.

use crate::state::busy::Busy;
use crate::state::server::Server;
use fencepost_machine::{ConnectionId, Input, InputDriver, InterruptedMachine, Outputs};

struct InterruptedServer<'s> {
    server: &'s mut Server,
}

impl InterruptedMachine for InterruptedServer<'_> {
    /// Returns `false` for the script's own client and for outgoing links, whose input must wait.
    fn takes(&self, connection: ConnectionId) -> bool {
        let key = self.server.roster.client_of(connection);
        let script = self.server.long_script.running;
        key.is_some_and(|key| script.is_none_or(|busy| busy.caller != key))
    }

    fn handle(&mut self, input: Input<'_>, out: &mut Outputs) {
        let server = &mut *self.server;
        let before = server.turn;
        server.outbox.swap(out);
        match input {
            _ if server.life.is_over => {}
            Input::Accepted { connection, peer } => server.accept(connection, peer),
            Input::Received { connection, bytes } => {
                server.receive(connection, bytes);
                server.serve_next();
            }
            Input::Continue => server.serve_next(),
            Input::DiskSynced => server.disk_synced(),
            Input::DiskFailed { of, error } => server.disk_failed(of, error),
            _ => {}
        }
        server.finish_interlude();
        server.outbox.swap(out);
        server.turn.resume(before);
    }
}

pub(crate) fn call_driver(server: &mut Server, driver: &dyn InputDriver, busy: Busy) -> Busy {
    server.long_script.running = Some(busy);
    if driver.must_stop() {
        server.stop();
    } else {
        driver.deliver_input(&mut InterruptedServer { server: &mut *server });
    }
    server.long_script.running.take().unwrap_or(busy)
}

pub(crate) fn call_driver_while_loading(server: &mut Server, driver: &dyn InputDriver) {
    driver.deliver_input(&mut InterruptedServer { server });
}
