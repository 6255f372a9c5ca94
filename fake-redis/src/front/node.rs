use super::interlude;
use super::operator;
use crate::commands;
use crate::config::{NodeConfig, file};
use crate::state::server::{DriverCalls, Server};
use fencepost_machine::wording::Wording;
use fencepost_machine::{
    DiskImage, Input, InputDriver, Machine, Now, OperatorAction, Output, Outputs, WallTime, wording,
};
use std::rc::Rc;

/// A Redis server. The driver sends the first [`Input::Timer`] to boot the server.
#[derive(Debug)]
pub struct Node {
    server: Server,
}

impl Node {
    /// The disk's configuration file overrides `config`. All randomness derives from `seed`.
    pub fn new(config: NodeConfig, mut disk: DiskImage, seed: u64, now: WallTime) -> Node {
        let config = match disk.config.take() {
            Some(rewritten) => file::read(&rewritten, config),
            None => config,
        };
        let mut server = Server::new(config, commands::table(), seed, now);
        server.load_disk(disk);
        Node { server }
    }

    /// Like [`Node::new`], with a driver that serves other clients during long scripts and loads.
    pub fn with_driver(
        config: NodeConfig,
        disk: DiskImage,
        seed: u64,
        now: WallTime,
        driver: Rc<dyn InputDriver>,
    ) -> Node {
        let mut node = Node::new(config, disk, seed, now);
        node.server.long_script.driver_calls =
            Some(DriverCalls { driver, call_driver: interlude::call_driver });
        node
    }

    #[cfg(test)]
    pub(crate) fn server_mut(&mut self) -> &mut Server {
        &mut self.server
    }

    #[cfg(test)]
    pub(crate) fn set_driver(&mut self, driver: Rc<dyn InputDriver>) {
        self.server.long_script.driver_calls =
            Some(DriverCalls { driver, call_driver: interlude::call_driver });
    }

    #[cfg(test)]
    pub(crate) fn take_propagated(&mut self) -> crate::state::statistics::Propagated {
        std::mem::take(&mut self.server.statistics.propagated)
    }

    fn dispatch(&mut self, input: Input<'_>) {
        let server = &mut self.server;
        if server.life.is_over {
            if let Input::Accepted { connection, .. } = input {
                server.outbox.send(Output::Close { connection });
            }
            return;
        }
        match input {
            Input::Accepted { connection, peer } => server.accept(connection, peer),
            Input::Received { connection, bytes } => {
                if !server.outgoing_received(connection, bytes) {
                    server.receive(connection, bytes);
                }
                server.serve_next();
            }
            Input::Continue => server.serve_next(),
            Input::Closed { connection } => {
                server.closed_by_peer(connection);
                server.outgoing_closed(connection);
            }
            Input::Connected { connection } => server.outgoing_connected(connection),
            Input::ConnectFailed { connection } => server.outgoing_failed(connection),
            Input::Timer => server.timer(),
            Input::DiskSynced => server.disk_synced(),
            Input::DiskFailed { of, error } => server.disk_failed(of, error),
            Input::Unsent { connection, bytes } => server.output_waits(connection, bytes),
            Input::Operator { action } => {
                for command in operator::typed(action) {
                    let words: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
                    server.apply_from_operator(&words);
                }
            }
        }
    }
}

impl Machine for Node {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        self.server.outbox.swap(out);
        self.server.clock.now = now.wall;
        if !matches!(input, Input::Timer) && !self.server.life.is_over {
            self.server.run_due_timers();
        }
        self.dispatch(input);
        self.server.finish_input();
        self.server.outbox.swap(out);
    }

    fn supports(&self, action: OperatorAction) -> bool {
        operator::has_effect(&self.server, action)
    }

    fn is_ready(&self) -> bool {
        self.server.life.is_ready()
    }

    fn shut_down(&mut self, now: Now, out: &mut Outputs) {
        if self.server.life.is_over {
            return;
        }
        self.server.outbox.swap(out);
        self.server.clock.now = now.wall;
        commands::end(&mut self.server, None);
        self.server.finish_input();
        self.server.outbox.swap(out);
    }

    fn will_send(&self) -> bool {
        self.server.answers_later()
            || self.server.answers_after_sync()
            || self.server.reports_expiry()
    }

    fn wording(&self) -> Wording {
        wording::resp
    }
}
