//! Records messages in transit and unanswered requests when a node crashes.

use super::agenda::HostIndex;
use super::host::Software;
use super::server::{Arrival, Server};
use super::socket::Stage;
use super::state::State;
use fencepost_faults::Node;
use fencepost_machine::{ConnectionId, Output};
use fencepost_reports::Turn;
use std::collections::BTreeSet;

impl State {
    pub(crate) fn record_unfinished_messages(&self, host: HostIndex) {
        let node = self.node(host);
        let others: BTreeSet<Node> = match &self.hosts[usize::from(host) - 1].software {
            Software::Machine(server) => {
                self.nodes_behind(unanswered(server)).filter(|asker| asker.is_process()).collect()
            }
            Software::Program(_) => self.senders_in_transit(host),
        };
        let turn = if node.is_process() { Turn::InFlight } else { Turn::Unanswered };
        for other in others {
            self.recorder.record_in_flight(node, turn, other);
        }
    }

    fn senders_in_transit(&self, host: HostIndex) -> BTreeSet<Node> {
        let is_coming = |socket: &&super::socket::Socket| {
            socket.host == host
                && socket.stage == Stage::Open
                && (socket.last_arrival > self.now || !socket.stalled.is_empty())
        };
        self.sockets.iter().filter(is_coming).map(|socket| self.node(socket.remote)).collect()
    }

    fn nodes_behind(&self, sockets: BTreeSet<u32>) -> impl Iterator<Item = Node> {
        sockets.into_iter().map(|socket| self.node(self.sockets[socket as usize].remote))
    }
}

fn unanswered(server: &Server) -> BTreeSet<u32> {
    let asked = server.inbox.iter().filter_map(|arrival| match arrival {
        Arrival::Readable(_, socket) => Some(*socket),
        _ => None,
    });
    let socket = |connection: &ConnectionId| server.connections.get(connection).copied();
    let outputs = server.outgoing.iter().flat_map(|(_, outputs)| outputs);
    let decided = outputs.filter_map(|output| match output {
        Output::Send { connection, .. } => socket(connection),
        _ => None,
    });
    asked.chain(decided).collect()
}
