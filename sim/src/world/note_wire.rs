use super::agenda::HostIndex;
use super::socket::{Kind, Owner, Socket};
use super::state::State;
use fencepost_machine::wording::{self, Speaker, Wording};

impl State {
    #[cold]
    pub(super) fn note_bytes(&mut self, socket: u32, bytes: &[u8]) {
        if let Some(wire) = self.wire.as_mut().filter(|wire| wire.wants_bytes()) {
            wire.takes(bytes);
            return;
        }
        let end = &self.sockets[socket as usize];
        let accepted_here = matches!(end.owner, Owner::Machine(id) if id.was_accepted());
        let (speaker, server) = match accepted_here {
            true => (Speaker::Server, end.host),
            false => (Speaker::Client, end.remote),
        };
        let wording = self.server(server).map_or(wording::lines as Wording, |it| it.wording);
        if let Some(wire) = &mut self.wire {
            wire.reads(&wording(speaker, bytes));
        }
    }

    pub(super) fn note_sent(
        &mut self,
        serial: u64,
        kind: Kind,
        (from, to): (HostIndex, HostIndex),
        socket: u32,
    ) {
        let thread = self.sockets.get(socket as usize).map_or(1, |end| end.thread);
        let ends = [from, to].map(|host| self.node(host).for_thread(thread));
        let now = self.run_time();
        let connection = self.connection(socket);
        if let Some(wire) = &mut self.wire {
            wire.sent((serial, connection), kind, ends, now);
        }
    }

    fn connection(&self, socket: u32) -> u32 {
        match self.sockets.get(socket as usize) {
            Some(Socket { owner: Owner::Machine(id), peer, .. }) if id.was_accepted() => *peer,
            _ => socket,
        }
    }

    pub(super) fn note_arrived(&mut self, serial: u64) {
        let now = self.run_time();
        if let Some(wire) = &mut self.wire {
            wire.arrived(serial, now);
        }
    }
}
