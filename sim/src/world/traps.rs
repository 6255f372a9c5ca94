//! Traps at servers. A trap drops an arriving command or its reply, and resets the connection.

use super::agenda::HostIndex;
use super::server::{Arrival, LostMessage, Trap};
use super::service::RequestSource;
use super::state::State;
use super::traffic::Close;
use fencepost_faults::FaultKind;
use fencepost_machine::{Output, Outputs};

impl State {
    pub(super) fn has_traps(&mut self, host: HostIndex) -> bool {
        self.server(host).is_some_and(|server| !server.traps.is_empty())
    }

    #[cold]
    pub(super) fn loses_request(&mut self, host: HostIndex, asking: RequestSource) -> bool {
        let Some((trap, client)) = self.take_trap(host, asking, LostMessage::Request) else {
            return false;
        };
        self.reset_connection(host, asking);
        let nodes = [self.node(client), self.node(host)];
        self.recorder.fault_began(trap.fault, FaultKind::LostRequest, &nodes);
        true
    }

    #[cold]
    pub(super) fn loses_reply(
        &mut self,
        host: HostIndex,
        asking: RequestSource,
        out: &mut Outputs,
    ) {
        if out.commands == 0 {
            return;
        }
        let Some((trap, client)) = self.take_trap(host, asking, LostMessage::Reply) else { return };
        out.list.retain(
            |output| !matches!(output, Output::Send { connection: to, .. } if *to == asking.0),
        );
        self.reset_connection(host, asking);
        let nodes = [self.node(host), self.node(client)];
        self.recorder.fault_began(trap.fault, FaultKind::LostReply, &nodes);
    }

    fn take_trap(
        &mut self,
        host: HostIndex,
        asking: RequestSource,
        loses: LostMessage,
    ) -> Option<(Trap, HostIndex)> {
        let client = self.sockets[asking.1 as usize].remote;
        let server = self.server(host)?;
        let waits = |trap: &Trap| trap.client == client && trap.loses == loses;
        let index = server.traps.iter().position(waits)?;
        Some((server.traps.remove(index), client))
    }

    fn reset_connection(&mut self, host: HostIndex, (connection, socket): RequestSource) {
        let Some(server) = self.server(host) else { return };
        server
            .inbox
            .retain(|waiting| !matches!(waiting, Arrival::Readable(on, _) if *on == connection));
        server.inbox.push_front(Arrival::Closed(connection));
        self.close(socket, Close::Reset);
    }
}
