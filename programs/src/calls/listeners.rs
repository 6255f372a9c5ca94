use super::{Call, Outcome, fail_with};
use crate::file::{FileId, Kind, Socket, Stage, Waiting};
use crate::group::Group;
use crate::interface::SocketId;
use crate::process::Interest;
use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddrV4};

impl Group {
    /// Opens a connection from another machine. Returns `None` if no listener has room for it.
    pub fn incoming(&mut self, from: SocketAddrV4, port: u16) -> Option<SocketId> {
        let listener = self.files.listener(port)?;
        if !self.files.has_room(listener) {
            return None;
        }
        let id = self.take_socket();
        let stage = Stage::Open(id);
        let socket = Socket { stage, local_port: port, peer: Some(from), ..Socket::default() };
        let file = self.files.open(Kind::Socket(socket));
        self.files.connections.insert(id, file);
        if let Some(Socket { stage: Stage::Listening(waiting), .. }) = self.files.socket(listener) {
            waiting.push_back(Waiting::Outside(file));
        }
        self.files.raise_edge(listener);
        Some(id)
    }

    pub fn listening(&self) -> Vec<u16> {
        self.files.listening().collect()
    }

    pub(super) fn is_own(&self, ip: Ipv4Addr) -> bool {
        let own = self.launch.address(&self.launch.host_name);
        ip.is_loopback() || ip.is_unspecified() || own == Some(ip)
    }

    pub(super) fn connect_inside(
        &mut self,
        call: &Call,
        file: FileId,
        to: SocketAddrV4,
        local_port: u16,
    ) -> Outcome {
        let Some(listener) = self.files.listener(to.port()) else {
            return fail_with(libc::ECONNREFUSED);
        };
        if self.files.has_room(listener) {
            self.files.queue_connection(listener, file, from_inside(*to.ip(), local_port));
            return Outcome::Done(0);
        }
        let id = self.take_socket();
        if let Some(socket) = self.files.socket(file) {
            socket.stage = Stage::Connecting(id);
        }
        self.files.connections.insert(id, file);
        self.wait_for_connection(call, file)
    }

    fn admit_next(&mut self, listener: FileId, port: u16) {
        let knocking: Vec<_> =
            self.files.connections.iter().map(|(id, file)| (*id, *file)).collect();
        let peer = |group: &mut Group, file| group.files.socket(file).and_then(|it| it.peer);
        let first = knocking.into_iter().find_map(|(id, file)| {
            let to = peer(self, file)?;
            let is_knocking = self
                .files
                .socket(file)
                .is_some_and(|socket| matches!(socket.stage, Stage::Connecting(_)));
            (is_knocking && to.port() == port && self.is_own(*to.ip())).then_some((
                id,
                file,
                *to.ip(),
            ))
        });
        let Some((id, file, ip)) = first else { return };
        self.files.connections.remove(&id);
        let local_port = self.files.socket(file).map_or(0, |socket| socket.local_port);
        self.files.queue_connection(listener, file, from_inside(ip, local_port));
    }

    pub(super) fn bind(&mut self, call: &Call) -> Outcome {
        let at = call.arguments[1];
        let Some(file) = self.file_of(call) else { return fail_with(libc::ENOTSOCK) };
        match i32::from(call.memory.u16(at)) {
            libc::AF_INET => {}
            libc::AF_UNIX => return Outcome::Done(0),
            _ => return fail_with(libc::EADDRNOTAVAIL),
        }
        let wanted = call.memory.u16(at + 2).swap_bytes();
        let port = if wanted == 0 { self.take_port() } else { wanted };
        if self.files.listener(port).is_some() {
            return fail_with(libc::EADDRINUSE);
        }
        match self.files.socket(file) {
            Some(socket) => socket.local_port = port,
            None => return fail_with(libc::ENOTSOCK),
        }
        Outcome::Done(0)
    }

    pub(super) fn listen(&mut self, call: &Call) -> Outcome {
        let Some(file) = self.file_of(call) else { return fail_with(libc::ENOTSOCK) };
        let port = self.take_port();
        let Some(socket) = self.files.socket(file) else { return fail_with(libc::ENOTSOCK) };
        socket.backlog = (call.arguments[1] as i32).max(0) as usize;
        if socket.local_port == 0 {
            socket.local_port = port;
        }
        if !matches!(socket.stage, Stage::Listening(_)) {
            socket.stage = Stage::Listening(VecDeque::new());
        }
        Outcome::Done(0)
    }

    pub(super) fn accept(&mut self, call: &Call) -> Outcome {
        let Some(file) = self.file_of(call) else { return fail_with(libc::ENOTSOCK) };
        let Some(listener) = self.files.socket(file) else { return fail_with(libc::ENOTSOCK) };
        let local_port = listener.local_port;
        let Stage::Listening(waiting) = &mut listener.stage else { return fail_with(libc::EINVAL) };
        let Some(first) = waiting.pop_front() else {
            if self.is_nonblocking(call) {
                return fail_with(libc::EAGAIN);
            }
            return call.block_restartable(Interest::Files, call.deadline(None));
        };
        self.admit_next(file, local_port);
        match first {
            Waiting::Inside { read, write, from } => {
                let native = self.descriptor_for(call, Some(from));
                let stage = Stage::Local { read, write };
                let socket = Socket { stage, local_port, peer: Some(from), ..Socket::default() };
                self.adopt_result(call, native, Kind::Socket(socket))
            }
            Waiting::Outside(file) => {
                let peer = self.files.socket(file).and_then(|socket| socket.peer);
                let native = self.descriptor_for(call, peer);
                self.adopt_opened(call, native, file)
            }
        }
    }

    fn descriptor_for(&mut self, call: &Call, peer: Option<SocketAddrV4>) -> i64 {
        let [_, address, length, flags, ..] = call.arguments;
        let flags = if call.number == libc::SYS_accept4 { flags as i32 } else { 0 };
        let kept = flags & (libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK);
        let kind = (libc::SOCK_STREAM | kept) as u64;
        if let Some(peer) = peer.filter(|_| address != 0) {
            self.write_address(call, (address, length), peer);
        }
        self.inject(call.thread, (libc::SYS_socket, [libc::AF_INET as u64, kind, 0, 0, 0, 0]))
    }
}

fn from_inside(to: Ipv4Addr, port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(if to.is_unspecified() { Ipv4Addr::LOCALHOST } else { to }, port)
}
