use super::Stage;
use super::StageRecord;
use super::event::{Content, End, Message, Place};
use super::server::Peer;
use super::trap::LostMessage;
use crate::staged::Sent;
use bytes::Bytes;
use fencepost_machine::{ConnectionId, Input, Output};

impl Stage {
    pub fn open(&mut self, server: usize, outside: u64, peer: &str) {
        let content = Content::Visit { outside, peer: peer.to_owned() };
        self.post(Place::Outside, Place::Server(server), content);
        self.settle();
    }

    pub fn receive(&mut self, server: usize, outside: u64, bytes: &[u8]) {
        let bytes = Bytes::copy_from_slice(bytes);
        self.post(Place::Outside, Place::Server(server), Content::Data { outside, bytes });
        self.settle();
    }

    pub fn close(&mut self, server: usize, outside: u64) {
        self.post(Place::Outside, Place::Server(server), Content::Left { outside });
        self.settle();
    }

    /// Sends a command as the operator, and discards the reply.
    pub fn command(&mut self, server: usize, bytes: &[u8]) {
        if self.servers[server].machine.is_none() {
            return;
        }
        let connection = self.admit(server, Peer::Operator, "127.0.0.1:0");
        self.input(server, Input::Received { connection, bytes });
        self.servers[server].peers.remove(&connection);
        self.input(server, Input::Closed { connection });
        self.settle();
    }

    pub(super) fn deliver(&mut self, message: Message) {
        match (message.to, message.content) {
            (Place::Outside, Content::Answer { outside, sent }) => self.sent.push((outside, sent)),
            (Place::Server(server), Content::Visit { outside, peer }) => {
                self.visit(server, outside, &peer);
            }
            (Place::Server(_), Content::Data { outside, bytes }) => {
                self.receive_from_outside(outside, &bytes);
            }
            (Place::Server(_), Content::Left { outside }) => {
                if let Some((server, connection)) = self.outside.remove(&outside) {
                    self.servers[server].peers.remove(&connection);
                    self.input(server, Input::Closed { connection });
                }
            }
            (Place::Server(server), Content::Connect { from: end }) => {
                self.try_connect(end, server)
            }
            (_, content) => self.deliver_inside(content),
        }
    }

    fn deliver_inside(&mut self, content: Content) {
        match content {
            Content::Opened { to } if self.knows(to) => {
                self.input(to.0, Input::Connected { connection: to.1 });
            }
            Content::Refused { to } if self.servers[to.0].machine.is_some() => {
                self.input(to.0, Input::ConnectFailed { connection: to.1 });
            }
            Content::Bytes { to, bytes } if self.knows(to) => {
                self.input(to.0, Input::Received { connection: to.1, bytes: &bytes });
            }
            Content::Closed { to } if self.knows(to) => {
                self.servers[to.0].peers.remove(&to.1);
                self.input(to.0, Input::Closed { connection: to.1 });
            }
            _ => {}
        }
    }

    fn knows(&self, end: End) -> bool {
        self.servers[end.0].peers.contains_key(&end.1)
    }

    fn admit(&mut self, server: usize, peer: Peer, address: &str) -> ConnectionId {
        let host = &mut self.servers[server];
        let connection = ConnectionId(host.accepted);
        host.accepted += 1;
        host.peers.insert(connection, peer);
        self.input(server, Input::Accepted { connection, peer: address });
        connection
    }

    pub(super) fn connect(&mut self, from: End, port: u16) {
        let me = Place::Server(from.0);
        match self.servers.iter().position(|other| other.port == port) {
            Some(to) => self.post(me, Place::Server(to), Content::Connect { from }),
            None => self.post(me, me, Content::Refused { to: from }),
        }
    }

    fn try_connect(&mut self, from: End, server: usize) {
        if self.servers[server].machine.is_none() {
            return self.send_inside(server, from, |to| Content::Refused { to });
        }
        let address = format!("127.0.0.1:{}", self.servers[from.0].port);
        let connection = self.admit(server, Peer::Inside(from), &address);
        self.servers[from.0].peers.insert(from.1, Peer::Inside((server, connection)));
        self.send_inside(server, from, |to| Content::Opened { to });
    }

    fn visit(&mut self, server: usize, outside: u64, peer: &str) {
        if self.servers[server].machine.is_none() {
            return self.answer(server, outside, Sent::Close);
        }
        let connection = self.admit(server, Peer::Outside(outside), peer);
        self.outside.insert(outside, (server, connection));
    }

    fn receive_from_outside(&mut self, outside: u64, bytes: &[u8]) {
        let Some((server, connection)) = self.outside.get(&outside).copied() else { return };
        let input = Input::Received { connection, bytes };
        let Some(place) = self.traps.iter().position(|trap| trap.triggers(server, bytes)) else {
            return self.input(server, input);
        };
        let mut has_lost = self.traps[place].lost_message == LostMessage::Request;
        if !has_lost {
            self.input_through(server, input, |out| {
                has_lost = out.commands > 0;
                let is_reply = |output: &Output| match output {
                    Output::Send { connection: to, .. } => *to == connection,
                    _ => false,
                };
                out.list.retain(|output| !(has_lost && is_reply(output)));
            });
        }
        if has_lost {
            let trap = self.traps.remove(place);
            self.record(server, StageRecord::Triggered(trap.id));
            self.hang_up(server, connection);
            self.input(server, Input::Closed { connection });
        }
    }

    pub(super) fn send(&mut self, server: usize, connection: ConnectionId, bytes: Bytes) {
        match self.servers[server].peers.get(&connection).copied() {
            Some(Peer::Outside(outside)) => self.answer(server, outside, Sent::Bytes(bytes)),
            Some(Peer::Inside(to)) => {
                self.send_inside(server, to, |to| Content::Bytes { to, bytes });
            }
            Some(Peer::Operator) | None => {}
        }
    }

    pub(super) fn hang_up(&mut self, server: usize, connection: ConnectionId) {
        let peer = self.servers[server].peers.remove(&connection);
        peer.into_iter().for_each(|peer| self.report_end(server, peer));
    }

    pub(super) fn report_end(&mut self, server: usize, peer: Peer) {
        match peer {
            Peer::Outside(outside) => {
                self.outside.remove(&outside);
                self.answer(server, outside, Sent::Close);
            }
            Peer::Inside(to) => self.send_inside(server, to, |to| Content::Closed { to }),
            Peer::Operator => {}
        }
    }

    fn answer(&mut self, server: usize, outside: u64, sent: Sent) {
        self.post(Place::Server(server), Place::Outside, Content::Answer { outside, sent });
    }

    fn send_inside(&mut self, server: usize, to: End, content: impl FnOnce(End) -> Content) {
        self.post(Place::Server(server), Place::Server(to.0), content(to));
    }
}
