//! Connections and messages between hosts. `arrival` delivers the messages that are due.

mod arrival;

use super::agenda::{Class, HostIndex, Occurrence};
use super::host::Software;
use super::network::{CONNECT_RETRY_CAP, CONNECT_RETRY_FIRST, RETRY_CAP, RETRY_FIRST};
use super::socket::{Kind, Message, NONE, Owner, Socket, Stage};
use super::state::State;
use bytes::BytesMut;
use std::io;
use std::task::{Context, Poll};

impl State {
    pub(crate) fn connect(
        &mut self,
        host: HostIndex,
        thread: u16,
        name: &str,
        port: u16,
        owner: Owner,
    ) -> io::Result<u32> {
        let Some(&remote) = self.addresses.get(name) else {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("no host is called {name}"),
            ));
        };
        self.note_sent_by(host, thread, remote, &[]);
        let socket = self.sockets.len() as u32;
        self.sockets.push(Socket {
            thread,
            port,
            ..Socket::new(host, remote, owner, Stage::Connecting)
        });
        self.carrier.connect(socket, host, remote);
        self.post(Kind::Connect, (host, remote), socket, socket, Vec::new(), 0);
        Ok(socket)
    }

    #[inline(always)]
    pub(crate) fn write(&mut self, socket: u32, bytes: &[u8]) -> io::Result<usize> {
        let end = &self.sockets[socket as usize];
        if end.reset {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        if end.stage != Stage::Open || end.is_shut {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let (from, to, peer) = (end.host, end.remote, end.peer);
        self.note_sent_by(from, end.thread, to, bytes);
        if self.wire.as_ref().is_some_and(|wire| wire.wants_content()) {
            self.note_bytes(socket, bytes);
        }
        let sent = self.carrier.send(socket, self.messages_sent, bytes);
        self.post(Kind::Data, (from, to), socket, peer, sent, bytes.len());
        Ok(bytes.len())
    }

    /// Records that a waiting process sent a request to a server. A heartbeat does not count.
    #[inline(always)]
    fn note_sent_by(&self, from: HostIndex, thread: u16, to: HostIndex, bytes: &[u8]) {
        let is_attempt = || match &self.hosts[usize::from(to) - 1].software {
            Software::Machine(server) => !(server.sign_of_life)(bytes),
            Software::Program(_) => true,
        };
        if self.recorder.is_any_waiting() && self.node(to).is_server() && is_attempt() {
            self.recorder.sends(self.node(from).for_thread(thread));
        }
    }

    pub(crate) fn poll_read(
        &mut self,
        socket: u32,
        context: &Context<'_>,
        buffer: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        let end = &mut self.sockets[socket as usize];
        if !end.received.is_empty() {
            let length = end.received.len();
            buffer.extend_from_slice(&end.received);
            end.received.clear();
            return Poll::Ready(Ok(length));
        }
        if end.reset {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        if end.ended || end.stage == Stage::Closed {
            return Poll::Ready(Ok(0));
        }
        if end.timed_out {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        end.waker = Some(context.waker().clone());
        Poll::Pending
    }

    pub(crate) fn poll_connect(
        &mut self,
        socket: u32,
        context: &Context<'_>,
    ) -> Poll<io::Result<()>> {
        let end = &mut self.sockets[socket as usize];
        match end.stage {
            Stage::Open => Poll::Ready(Ok(())),
            Stage::Refused => Poll::Ready(Err(io::ErrorKind::ConnectionRefused.into())),
            Stage::Closed => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
            Stage::Connecting => {
                end.waker = Some(context.waker().clone());
                Poll::Pending
            }
        }
    }

    pub(crate) fn shutdown(&mut self, socket: u32) {
        let end = &mut self.sockets[socket as usize];
        if end.stage != Stage::Open || end.reset || end.is_shut {
            return;
        }
        end.is_shut = true;
        let (from, to, peer) = (end.host, end.remote, end.peer);
        self.post(Kind::End, (from, to), socket, peer, Vec::new(), 0);
    }

    /// Closes one end of a connection. If this end has unread bytes, the peer sees a reset (RFC
    /// 9293, section 3.6.1), unless the close is silent.
    pub(crate) fn close(&mut self, socket: u32, how: Close) {
        let end = &mut self.sockets[socket as usize];
        let stage = std::mem::replace(&mut end.stage, Stage::Closed);
        let has_unread = !end.received.is_empty();
        end.received = Vec::new();
        end.waker = None;
        if let Some(timer) = end.timer.take() {
            self.timers.release(timer);
        }
        let (from, to, peer, gone) = (end.host, end.remote, end.peer, end.reset);
        let is_told = end.is_shut && !has_unread && how == Close::End;
        if stage == Stage::Closed || stage == Stage::Connecting {
            return; // The answer to a pending connect will close the connection.
        }
        if stage == Stage::Refused || gone || is_told || how == Close::Silent {
            self.carrier.close(socket);
            return;
        }
        let kind = if has_unread || how == Close::Reset { Kind::Reset } else { Kind::End };
        self.carrier.close(socket);
        self.post(kind, (from, to), socket, peer, Vec::new(), 0);
    }

    pub(crate) fn time_out(&mut self, socket: u32) {
        let end = &mut self.sockets[socket as usize];
        end.timed_out = true;
        end.wake(&mut self.tasks);
    }

    pub(crate) fn close_all(&mut self, host: HostIndex, how: Close) {
        for socket in 0..self.sockets.len() {
            if self.sockets[socket].host == host {
                self.close(socket as u32, how);
                if how == Close::Silent {
                    for message in std::mem::take(&mut self.sockets[socket].stalled) {
                        self.messages.remove(message as usize);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn post(
        &mut self,
        kind: Kind,
        (from, to): (HostIndex, HostIndex),
        flow: u32,
        target: u32,
        bytes: Vec<u8>,
        length: usize,
    ) {
        let serial = self.messages_sent;
        self.messages_sent += 1;
        if self.wire.is_some() {
            self.note_sent(serial, kind, (from, to), if flow == NONE { target } else { flow });
        }
        let id =
            self.messages.insert(Message { serial, kind, from, to, flow, target, bytes, length })
                as u32;
        if !self.network.had_obstacles || !self.hold_up(id) {
            self.schedule(id);
        }
    }

    fn hold_up(&mut self, id: u32) -> bool {
        let message = &self.messages[id as usize];
        let (from, to, flow) = (message.from, message.to, message.flow);
        if self.must_queue(message) {
            self.insert_stalled(flow, id);
        } else if self.is_blocked(from, to) {
            self.stall(id);
        } else {
            return false;
        }
        true
    }

    fn must_queue(&self, message: &Message) -> bool {
        let head = match message.flow {
            NONE => None,
            flow => self.sockets[flow as usize].stalled.front(),
        };
        head.is_some_and(|head| self.messages[*head as usize].serial < message.serial)
    }

    fn insert_stalled(&mut self, flow: u32, id: u32) {
        let serial = |id: u32| self.messages[id as usize].serial;
        let stalled = &self.sockets[flow as usize].stalled;
        let place = stalled.partition_point(|other| serial(*other) < serial(id));
        self.sockets[flow as usize].stalled.insert(place, id);
    }

    #[inline(always)]
    fn schedule(&mut self, id: u32) {
        let message = &self.messages[id as usize];
        let (from, to, flow) = (message.from, message.to, message.flow);
        let mut at = self.now + self.network.latency(usize::from(from) - 1, usize::from(to) - 1);
        if flow != NONE {
            let end = &mut self.sockets[flow as usize];
            at = at.max(end.last_arrival);
            end.last_arrival = at;
        }
        self.agenda.enter(at, to, Class::Message, from, Occurrence::Deliver(id));
    }

    /// Returns `true` while a cut or power loss blocks messages. Only the nemesis changes this.
    pub(crate) fn is_blocked(&self, from: HostIndex, to: HostIndex) -> bool {
        self.network.is_cut(usize::from(from) - 1, usize::from(to) - 1)
            || self.hosts[usize::from(to) - 1].is_dark
    }

    fn stall(&mut self, id: u32) {
        let message = &self.messages[id as usize];
        let (kind, from, flow) = (message.kind, message.from, message.flow);
        self.record_held_up(id);
        if flow == NONE || self.host(from).is_dark {
            self.messages.remove(id as usize);
            return;
        }
        self.insert_stalled(flow, id);
        let end = &mut self.sockets[flow as usize];
        if end.stalled.len() == 1 {
            end.retry = if kind == Kind::Connect { CONNECT_RETRY_FIRST } else { RETRY_FIRST };
            let at = self.now + end.retry;
            self.agenda.enter(at, from, Class::Message, from, Occurrence::Retry(flow));
        }
    }

    fn record_held_up(&mut self, id: u32) {
        let Some(all) = &mut self.held_up else { return };
        let Message { kind, from, to, flow, target, .. } = self.messages[id as usize];
        let is_open = |end: u32| match self.sockets.get(end as usize) {
            Some(end) => matches!(end.stage, Stage::Open | Stage::Connecting),
            None => false,
        };
        let is_opening = matches!(kind, Kind::Connect | Kind::Accepted | Kind::Refused);
        if is_open(target) || is_open(flow) && !is_opening {
            all.push((self.now, [from, to]));
        }
    }

    pub(crate) fn retry(&mut self, flow: u32) {
        let end = &mut self.sockets[flow as usize];
        let (from, to) = (end.host, end.remote);
        let Some(&head) = end.stalled.front() else { return };
        self.record_held_up(head);
        if !self.is_blocked(from, to) {
            let end = &mut self.sockets[flow as usize];
            end.has_resent = true;
            for id in std::mem::take(&mut end.stalled) {
                self.schedule(id);
            }
            return;
        }
        let is_connect = self.messages[head as usize].kind == Kind::Connect;
        let cap = if is_connect { CONNECT_RETRY_CAP } else { RETRY_CAP };
        let end = &mut self.sockets[flow as usize];
        end.retry = (end.retry + end.retry).min(cap);
        let at = self.now + end.retry;
        self.agenda.enter(at, from, Class::Message, from, Occurrence::Retry(flow));
    }

    pub(crate) fn will_arrive(&self, id: u32) -> bool {
        let message = &self.messages[id as usize];
        let is_held_up = self.is_blocked(message.from, message.to) || self.must_queue(message);
        if is_held_up || self.is_lost(message.flow) {
            return false;
        }
        match message.kind {
            Kind::Connect => self.listens(message.to),
            // The first data from a server may arrive just after the reply to the connect.
            Kind::Data => {
                let stage = self.sockets[message.target as usize].stage;
                matches!(stage, Stage::Open | Stage::Connecting)
            }
            Kind::Accepted | Kind::Refused | Kind::End | Kind::Reset => false,
        }
    }

    /// A delayed message is still in the sending machine, so a power loss of the sender deletes it.
    fn is_lost(&self, flow: u32) -> bool {
        flow != NONE && self.sockets[flow as usize].lost_power
    }

    pub(crate) fn lose_power(&mut self, host: HostIndex) {
        self.network.had_obstacles = true;
        for end in self.sockets.iter_mut().filter(|end| end.host == host) {
            end.lost_power = true;
        }
        if let Some(machine) = self.server(host).and_then(|server| server.machine.as_mut()) {
            machine.lose_power();
        }
    }

    fn listens(&self, host: HostIndex) -> bool {
        let host = &self.hosts[usize::from(host) - 1];
        host.is_up && matches!(host.software, super::host::Software::Machine(_))
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Close {
    End,
    Reset,
    Silent,
}
