use super::super::agenda::{Class, Occurrence};
use super::super::server::Arrival;
use super::super::socket::{Kind, Message, NONE, Owner, Socket, Stage};
use super::super::state::State;
use super::Close;
use fencepost_machine::ConnectionId;

impl State {
    #[inline(always)]
    pub(crate) fn deliver(&mut self, id: u32) {
        if self.network.had_obstacles && self.is_held_or_lost(id) {
            return;
        }
        let message = self.messages.remove(id as usize);
        if self.wire.is_some() {
            self.note_arrived(message.serial);
        }
        if message.kind == Kind::Data {
            self.data_arrives(message);
        } else {
            self.signal_arrives(&message);
        }
    }

    #[inline(never)]
    fn is_held_or_lost(&mut self, id: u32) -> bool {
        if self.is_lost(self.messages[id as usize].flow) {
            self.messages.remove(id as usize);
            return true;
        }
        if self.hold_up(id) {
            return true;
        }
        let overtakes = self.overtakes(id);
        if overtakes {
            self.record_held_up(id);
            let message = &self.messages[id as usize];
            let (from, to) = (message.from, message.to);
            let at = self.sockets[message.flow as usize].last_arrival.max(self.now);
            self.agenda.enter(at, to, Class::Message, from, Occurrence::Deliver(id));
        }
        overtakes
    }

    fn overtakes(&self, id: u32) -> bool {
        let message = &self.messages[id as usize];
        let earlier = |other: &Message| other.flow == message.flow && other.serial < message.serial;
        message.flow != NONE
            && self.sockets[message.flow as usize].has_resent
            && self.messages.iter().any(|(_, other)| earlier(other))
    }

    #[inline(never)]
    fn signal_arrives(&mut self, message: &Message) {
        match message.kind {
            Kind::Connect => self.connect_arrives(message),
            Kind::Accepted => self.answer_arrives(message.target),
            Kind::Refused => self.refusal_arrives(message.target),
            Kind::Data => {}
            Kind::End => self.end_arrives(message.target),
            Kind::Reset => self.reset_arrives(message.target),
        }
    }

    fn connect_arrives(&mut self, message: &Message) {
        let (client, host, remote) = (message.target, message.to, message.from);
        if !self.listens(host) {
            self.post(Kind::Refused, (host, remote), NONE, client, Vec::new(), 0);
            return;
        }
        let (thread, port) =
            (self.sockets[client as usize].thread, self.sockets[client as usize].port);
        let peer = format!("{}:{}", self.node(remote).for_thread(thread), 40_000 + client % 20_000);
        let Some(server) = self.server(host) else { return };
        let connection = ConnectionId(server.next_connection);
        server.next_connection += 1;
        server.inbox.push_back(Arrival::Accepted(connection, peer));
        if let Some(machine) = &mut server.machine {
            machine.dialled(connection, port);
        }
        let socket = self.sockets.len() as u32;
        let mut end = Socket::new(host, remote, Owner::Machine(connection), Stage::Open);
        (end.peer, end.thread) = (client, thread);
        self.sockets.push(end);
        self.sockets[client as usize].peer = socket;
        if let Some(server) = self.server(host) {
            server.opened(connection, socket);
        }
        self.carrier.accept(client, socket);
        self.post(Kind::Accepted, (host, remote), socket, client, Vec::new(), 0);
    }

    fn answer_arrives(&mut self, client: u32) {
        self.carrier.established(client);
        let end = &mut self.sockets[client as usize];
        let was_closed = end.stage == Stage::Closed;
        end.stage = Stage::Open;
        if was_closed {
            self.close(client, Close::End);
            return;
        }
        end.wake(&mut self.tasks);
        self.put_into_inbox(client, Arrival::Connected);
    }

    fn refusal_arrives(&mut self, client: u32) {
        self.carrier.refused(client);
        let end = &mut self.sockets[client as usize];
        if end.stage != Stage::Closed {
            end.stage = Stage::Refused;
            end.wake(&mut self.tasks);
            self.put_into_inbox(client, Arrival::ConnectFailed);
        }
    }

    #[inline(always)]
    fn data_arrives(&mut self, message: Message) {
        let end = &mut self.sockets[message.target as usize];
        if end.stage != Stage::Open {
            return self.data_arrives_too_late(&message);
        }
        self.carrier.receive(message.target, message.bytes, message.length, &mut end.received);
        end.wake(&mut self.tasks);
        self.put_into_inbox(message.target, |connection| {
            Arrival::Readable(connection, message.target)
        });
    }

    /// Resets the connection when data arrives at a missing end, as operating systems do.
    #[cold]
    fn data_arrives_too_late(&mut self, message: &Message) {
        self.post(Kind::Reset, (message.to, message.from), NONE, message.flow, Vec::new(), 0);
    }

    fn end_arrives(&mut self, target: u32) {
        let end = &mut self.sockets[target as usize];
        if end.stage == Stage::Open {
            end.ended = true;
            end.wake(&mut self.tasks);
            self.put_into_inbox(target, Arrival::Closed);
        }
    }

    fn reset_arrives(&mut self, target: u32) {
        let end = &mut self.sockets[target as usize];
        if end.stage == Stage::Open && !end.reset {
            end.reset = true;
            let stalled = std::mem::take(&mut end.stalled);
            end.wake(&mut self.tasks);
            for id in stalled {
                self.messages.remove(id as usize);
            }
            self.put_into_inbox(target, Arrival::Closed);
        }
    }

    fn put_into_inbox(&mut self, socket: u32, arrival: impl FnOnce(ConnectionId) -> Arrival) {
        let end = &self.sockets[socket as usize];
        let (host, owner) = (end.host, end.owner);
        if let Owner::Machine(connection) = owner
            && let Some(server) = self.server(host)
        {
            server.inbox.push_back(arrival(connection));
        }
    }
}
