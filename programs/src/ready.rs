use crate::clock::Now;
use crate::file::{FileId, Files, Kind, PIPE_CAPACITY, PipeId, Socket, Stage};

pub(crate) const IN: u32 = libc::POLLIN as u32;
pub(crate) const OUT: u32 = libc::POLLOUT as u32;
pub(crate) const ERR: u32 = libc::POLLERR as u32;
pub(crate) const HUP: u32 = libc::POLLHUP as u32;
pub(crate) const RDHUP: u32 = libc::POLLRDHUP as u32;

const ROOM: usize = 4096;

impl Files {
    pub(crate) fn readiness(&self, file: FileId, now: Now) -> u32 {
        match &self.get(file).kind {
            Kind::Socket(socket) => self.socket_readiness(socket),
            Kind::Datagrams(socket) => {
                let is_failed = socket.error.is_some();
                let has_some = is_failed || !socket.received.is_empty();
                OUT | if has_some { IN } else { 0 } | if is_failed { ERR } else { 0 }
            }
            Kind::Epoll(set) => {
                let is_ready = |file: FileId, events: u32| {
                    self.readiness(file, now) & (events | ERR | HUP) != 0
                };
                let ready = set.values().any(|it| !it.has_fired && is_ready(it.file, it.events));
                if ready { IN } else { 0 }
            }
            Kind::Event { count, .. } => {
                (if *count > 0 { IN } else { 0 }) | if *count < u64::MAX - 1 { OUT } else { 0 }
            }
            Kind::PipeRead(pipe) => self.read_end(*pipe, 0),
            Kind::PipeWrite(pipe) => self.write_end(*pipe, ERR),
            Kind::Pair { read, write } => {
                let is_gone = self.pipes[*write].readers == 0;
                self.both_ends(*read, *write) | if is_gone { HUP } else { 0 }
            }
            Kind::Timer(timer) => {
                let clock = if timer.is_wall { now.wall_ns } else { now.monotonic_ns };
                if timer.next_ns.is_some_and(|next| next <= clock) { IN } else { 0 }
            }
            Kind::Signals(_) => 0,
            Kind::Random => IN | OUT,
            Kind::Output(_) => OUT,
        }
    }

    fn read_end(&self, pipe: PipeId, at_end: u32) -> u32 {
        let pipe = &self.pipes[pipe];
        let has_bytes = if pipe.bytes.is_empty() { 0 } else { IN };
        has_bytes | if pipe.writers == 0 { HUP | at_end } else { 0 }
    }

    fn write_end(&self, pipe: PipeId, when_broken: u32) -> u32 {
        let pipe = &self.pipes[pipe];
        let has_room = pipe.bytes.len() + ROOM <= PIPE_CAPACITY;
        (if has_room { OUT } else { 0 }) | if pipe.readers == 0 { when_broken } else { 0 }
    }

    fn both_ends(&self, read: PipeId, write: PipeId) -> u32 {
        let incoming = &self.pipes[read];
        let mut mask = if incoming.bytes.is_empty() { 0 } else { IN };
        if incoming.writers == 0 {
            mask |= IN | RDHUP;
            if self.pipes[write].writers == 0 {
                mask |= HUP;
            }
        }
        mask | self.write_end(write, OUT)
    }

    fn socket_readiness(&self, socket: &Socket) -> u32 {
        match &socket.stage {
            Stage::Fresh => OUT | HUP,
            Stage::Listening(waiting) => {
                if waiting.is_empty() {
                    0
                } else {
                    IN
                }
            }
            Stage::Connecting(_) => 0,
            Stage::Failed => IN | OUT | HUP | RDHUP | if socket.error.is_some() { ERR } else { 0 },
            Stage::Local { read, write } => self.both_ends(*read, *write),
            Stage::Open(_) => {
                let mut mask = OUT;
                if !socket.received.is_empty() || socket.has_ended {
                    mask |= IN;
                }
                if socket.has_ended {
                    mask |= RDHUP | if socket.is_shut { HUP } else { 0 };
                }
                mask | if socket.error.is_some() { ERR | IN } else { 0 }
            }
        }
    }
}
