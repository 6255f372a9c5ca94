//! A Redis server as a machine: inputs in, outputs out.

use super::interlude;
use super::operator;
use crate::commands;
use crate::config::{NodeConfig, file};
use crate::state::server::{Attendance, Server};
use fencepost_machine::wording::Wording;
use fencepost_machine::{
    Attendant, DiskImage, Input, Machine, Now, OperatorAction, Output, Outputs, WallTime, wording,
};
use std::rc::Rc;

/// A Redis server. It has no world of its own: time, bytes and the disk are handed to it.
///
/// The driver sends [`Input::Timer`] once when the server boots. A restart is a new node with what
/// the disk held.
#[derive(Debug)]
pub struct Node {
    server: Server,
}

impl Node {
    /// A server that is about to boot with what its disk holds; a configuration file that was
    /// rewritten counts for more than `config`. All its randomness follows from `seed`, which
    /// should differ between servers and between the lives of one server.
    pub fn new(config: NodeConfig, mut disk: DiskImage, seed: u64, now: WallTime) -> Node {
        let config = match disk.config.take() {
            Some(rewritten) => file::read(&rewritten, config),
            None => config,
        };
        let mut server = Server::new(config, commands::table(), seed, now);
        server.load_disk(disk);
        Node { server }
    }

    /// As [`Node::new`], with somebody who looks after others while a script runs.
    pub fn attended(
        config: NodeConfig,
        disk: DiskImage,
        seed: u64,
        now: WallTime,
        attendant: Rc<dyn Attendant>,
    ) -> Node {
        let mut node = Node::new(config, disk, seed, now);
        node.server.long_script.attend_by(Attendance { attendant, attend: interlude::attend });
        node
    }

    /// The server itself.
    #[cfg(test)]
    pub(crate) fn server_mut(&mut self) -> &mut Server {
        &mut self.server
    }

    /// Has somebody look after others from now on while a script runs.
    #[cfg(test)]
    pub(crate) fn be_attended_by(&mut self, attendant: Rc<dyn Attendant>) {
        self.server.long_script.attend_by(Attendance { attendant, attend: interlude::attend });
    }

    /// What was propagated since this was last asked.
    #[cfg(test)]
    pub(crate) fn take_propagated(&mut self) -> crate::state::statistics::Propagated {
        std::mem::take(&mut self.server.statistics.propagated)
    }

    fn dispatch(&mut self, input: Input<'_>) {
        let server = &mut self.server;
        if server.life.is_over() {
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
        self.server.clock.show(now.wall);
        if !matches!(input, Input::Timer) && !self.server.life.is_over() {
            self.server.run_due_timers();
        }
        self.dispatch(input);
        self.server.finish_input();
        self.server.outbox.swap(out);
    }

    fn supports(&self, action: OperatorAction) -> bool {
        operator::changes_something(&self.server, action)
    }

    fn is_ready(&self) -> bool {
        self.server.life.is_ready()
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
