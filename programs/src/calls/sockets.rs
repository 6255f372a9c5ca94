//! Emulates stream sockets. The driver sees only connections with other machines.

use super::interfaces::{internet, internet_address};
use super::{Call, Outcome, fail_with};
use crate::file::{Datagrams, FileId, Kind, Socket, Stage};
use crate::group::Group;
use crate::interface::{News, Request, SocketId};
use crate::process::Interest;
use std::net::{Ipv4Addr, SocketAddrV4};

/// Nanoseconds after which Linux 6.1, by default, stops trying to connect to a silent machine.
const CONNECT_MAX_NS: u64 = 127_000_000_000;

fn is_socket_call(number: i64) -> bool {
    matches!(
        number,
        libc::SYS_connect
            | libc::SYS_bind
            | libc::SYS_listen
            | libc::SYS_accept
            | libc::SYS_accept4
            | libc::SYS_shutdown
            | libc::SYS_getsockname
            | libc::SYS_getpeername
            | libc::SYS_getsockopt
            | libc::SYS_setsockopt
    )
}

struct Ends {
    reading: bool,
    writing: bool,
}

impl Socket {
    pub(crate) fn handle_news(&mut self, news: News) {
        match news {
            News::Connected(id) => self.stage = Stage::Open(id),
            News::Refused(_) => {
                (self.stage, self.error) = (Stage::Failed, Some(libc::ECONNREFUSED));
            }
            News::Received(_, bytes) => self.received.extend(bytes),
            News::Ended(_) => self.has_ended = true,
            News::Reset(_) => {
                (self.stage, self.error) = (Stage::Failed, Some(libc::ECONNRESET));
                self.has_ended = true;
            }
        }
    }

    fn shut_down_socket(&mut self, id: SocketId, ends: Ends) -> Option<Request> {
        let was_closed = self.reads_no_more && self.is_shut;
        let ends_now = ends.writing && !self.is_shut;
        self.reads_no_more |= ends.reading;
        self.has_ended |= ends.reading;
        self.is_shut |= ends.writing;
        match self.reads_no_more && self.is_shut {
            true if was_closed => None,
            true => Some(Request::Close { socket: id }),
            false => ends_now.then_some(Request::Shutdown { socket: id }),
        }
    }
}

impl Group {
    pub(super) fn socket_call(&mut self, call: &Call) -> Option<Outcome> {
        if is_socket_call(call.number)
            && let Some(file) = self.file_of(call)
            && self.datagrams(file).is_some()
        {
            return Some(self.datagram_call(call, file));
        }
        Some(match call.number {
            libc::SYS_socket => self.socket(call),
            libc::SYS_connect => self.connect(call),
            libc::SYS_bind => self.bind(call),
            libc::SYS_listen => self.listen(call),
            libc::SYS_accept | libc::SYS_accept4 => self.accept(call),
            libc::SYS_shutdown => self.shutdown(call),
            libc::SYS_getsockname | libc::SYS_getpeername => self.name_of_socket(call),
            libc::SYS_getsockopt => self.get_option(call),
            libc::SYS_setsockopt => self.set_option(call),
            libc::SYS_socketpair => self.socket_pair(call),
            _ => return None,
        })
    }

    fn socket(&mut self, call: &Call) -> Outcome {
        let [family, kind, ..] = call.arguments;
        let family_and_kind = (family as i32, kind as i32 & 0xf);
        let is_netlink =
            matches!(family_and_kind, (libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_DGRAM))
                && call.arguments[2] as i32 == libc::NETLINK_ROUTE;
        if is_netlink || family_and_kind == (libc::AF_INET, libc::SOCK_DGRAM) {
            let kind = kind as i32 & !0xf | libc::SOCK_DGRAM;
            let arguments = [libc::AF_INET as u64, kind as u64, 0, 0, 0, 0];
            let native = self.inject(call.thread, (call.number, arguments));
            let socket = Datagrams { is_netlink, ..Datagrams::default() };
            return self.adopt_result(call, native, Kind::Datagrams(socket));
        }
        let is_known = matches!(family as i32, libc::AF_INET | libc::AF_UNIX)
            && kind as i32 & 0xf == libc::SOCK_STREAM;
        if !is_known {
            return fail_with(libc::EAFNOSUPPORT);
        }
        let native = self.inject(call.thread, (call.number, call.arguments));
        self.adopt_result(call, native, Kind::Socket(Socket::default()))
    }

    fn connect(&mut self, call: &Call) -> Outcome {
        let Some(file) = self.file_of(call) else { return fail_with(libc::ENOTSOCK) };
        let Some(socket) = self.files.socket(file) else { return fail_with(libc::ENOTSOCK) };
        match (&socket.stage, call.waited.is_some()) {
            (Stage::Fresh, _) => {}
            (Stage::Failed, _) => {
                let error = socket.error.take().unwrap_or(libc::ECONNABORTED);
                socket.stage = Stage::Fresh;
                return fail_with(error);
            }
            (Stage::Open(_) | Stage::Local { .. }, true) => return Outcome::Done(0),
            (Stage::Connecting(id), true) if call.has_expired => {
                if socket.send_timeout_ns.is_some() {
                    return fail_with(libc::EINPROGRESS);
                }
                let id = *id;
                (socket.stage, socket.error) = (Stage::Failed, None);
                self.files.connections.remove(&id);
                self.files.closed.push(id);
                return fail_with(libc::ETIMEDOUT);
            }
            (Stage::Connecting(_), true) => {
                return call.block_restartable(Interest::Files, call.deadline(None));
            }
            (Stage::Connecting(_), false) => return fail_with(libc::EALREADY),
            (Stage::Open(_) | Stage::Local { .. }, false) => return fail_with(libc::EISCONN),
            (Stage::Listening(_), _) => return fail_with(libc::EOPNOTSUPP),
        }
        self.begin_connect(call, file)
    }

    fn begin_connect(&mut self, call: &Call, file: FileId) -> Outcome {
        let at = call.arguments[1];
        match i32::from(call.memory.u16(at)) {
            libc::AF_INET => {}
            libc::AF_UNIX => return fail_with(libc::ENOENT),
            libc::AF_UNSPEC => return Outcome::Done(0),
            _ => return fail_with(libc::EAFNOSUPPORT),
        }
        let address = internet_address(call, at);
        let local_port = self.take_port();
        if let Some(socket) = self.files.socket(file) {
            (socket.local_port, socket.peer) = (local_port, Some(address));
        }
        if self.is_own(*address.ip()) {
            return self.connect_inside(call, file, address, local_port);
        }
        let host = self.launch.hosts.iter().find(|(_, known)| *known == address.ip());
        let Some(host) = host.map(|(name, _)| name.clone()) else {
            self.record_remark(&format!(
                "a connection to {address}, which is not a simulated machine"
            ));
            return fail_with(libc::ENETUNREACH);
        };
        let id = self.take_socket();
        if let Some(socket) = self.files.socket(file) {
            socket.stage = Stage::Connecting(id);
        }
        self.files.connections.insert(id, file);
        self.requests.push(Request::Connect { socket: id, host, port: address.port() });
        self.wait_for_connection(call, file)
    }

    pub(super) fn wait_for_connection(&mut self, call: &Call, file: FileId) -> Outcome {
        if self.is_nonblocking(call) {
            return fail_with(libc::EINPROGRESS);
        }
        let timeout = self.files.socket(file).and_then(|socket| socket.send_timeout_ns);
        let after = timeout.unwrap_or(CONNECT_MAX_NS);
        call.block_restartable(Interest::Files, call.deadline(Some(after)))
    }

    pub(super) fn take_port(&mut self) -> u16 {
        self.next_port = self.next_port.checked_add(1).unwrap_or(40_001);
        self.next_port
    }

    fn shutdown(&mut self, call: &Call) -> Outcome {
        let how = call.arguments[1] as i32;
        let Some(file) = self.file_of(call) else { return fail_with(libc::ENOTSOCK) };
        let ends = Ends {
            reading: how == libc::SHUT_RD || how == libc::SHUT_RDWR,
            writing: how == libc::SHUT_WR || how == libc::SHUT_RDWR,
        };
        let outcome = match &mut self.files.get_mut(file).kind {
            Kind::Pair { read, write }
            | Kind::Socket(Socket { stage: Stage::Local { read, write }, .. }) => {
                let (read, write) = (*read, *write);
                if ends.writing {
                    self.files.pipes[write].writers = 0;
                }
                if ends.reading {
                    self.files.pipes[read].writers = 0;
                    self.files.pipes[read].readers = 0;
                }
                Outcome::Done(0)
            }
            Kind::Socket(socket) => match socket.stage {
                Stage::Open(id) => {
                    self.requests.extend(socket.shut_down_socket(id, ends));
                    Outcome::Done(0)
                }
                _ => fail_with(libc::ENOTCONN),
            },
            _ => fail_with(libc::ENOTSOCK),
        };
        self.files.raise_edge(file);
        outcome
    }

    pub(super) fn write_address(
        &self,
        call: &Call,
        (at, length): (u64, u64),
        address: SocketAddrV4,
    ) {
        let address = internet(address);
        let room = (call.memory.u32(length) as usize).min(address.len());
        call.memory.write(at, &address[..room]);
        call.memory.write(length, &(address.len() as u32).to_le_bytes());
    }

    fn name_of_socket(&mut self, call: &Call) -> Outcome {
        let [_, at, length, ..] = call.arguments;
        let own = self.own_address();
        let Some(file) = self.file_of(call) else { return fail_with(libc::ENOTSOCK) };
        if matches!(self.files.get(file).kind, Kind::Pair { .. }) {
            call.memory.write(at, &(libc::AF_UNIX as u16).to_le_bytes());
            call.memory.write(length, &2u32.to_le_bytes());
            return Outcome::Done(0);
        }
        let Some(socket) = self.files.socket(file) else { return fail_with(libc::ENOTSOCK) };
        let is_inside = matches!(socket.stage, Stage::Local { .. } | Stage::Listening(_));
        let address = if call.number == libc::SYS_getpeername {
            match (socket.peer, &socket.stage) {
                (Some(peer), Stage::Open(_) | Stage::Local { .. }) => peer,
                _ => return fail_with(libc::ENOTCONN),
            }
        } else if is_inside {
            SocketAddrV4::new(Ipv4Addr::LOCALHOST, socket.local_port)
        } else if socket.local_port == 0 {
            SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0)
        } else {
            SocketAddrV4::new(own, socket.local_port)
        };
        self.write_address(call, (at, length), address);
        Outcome::Done(0)
    }

    fn get_option(&mut self, call: &Call) -> Outcome {
        let [_, level, option, at, length, _] = call.arguments;
        let Some(file) = self.file_of(call) else { return Outcome::Native };
        if (level as i32, option as i32) != (libc::SOL_SOCKET, libc::SO_ERROR) {
            return Outcome::Native;
        }
        let Some(socket) = self.files.socket(file) else { return Outcome::Native };
        let error = socket.error.take().unwrap_or(0);
        call.memory.write(at, &error.to_le_bytes());
        call.memory.write(length, &4u32.to_le_bytes());
        Outcome::Done(0)
    }

    fn set_option(&mut self, call: &Call) -> Outcome {
        let [_, level, option, at, ..] = call.arguments;
        let Some(file) = self.file_of(call) else { return Outcome::Native };
        let Some(socket) = self.files.socket(file) else { return Outcome::Native };
        let timeout = match (level as i32, option as i32) {
            (libc::SOL_SOCKET, libc::SO_RCVTIMEO) => &mut socket.receive_timeout_ns,
            (libc::SOL_SOCKET, libc::SO_SNDTIMEO) => &mut socket.send_timeout_ns,
            _ => return Outcome::Native,
        };
        let span = call.timeval_ns(at);
        *timeout = (span > 0).then_some(span);
        Outcome::Native
    }

    fn socket_pair(&mut self, call: &Call) -> Outcome {
        let [family, _, _, at, ..] = call.arguments;
        if family as i32 != libc::AF_UNIX {
            return fail_with(libc::EOPNOTSUPP);
        }
        let result = self.inject(call.thread, (call.number, call.arguments));
        if result < 0 {
            return Outcome::Done(result);
        }
        let (one, other) = (self.files.pipe(), self.files.pipe());
        let kinds =
            [Kind::Pair { read: one, write: other }, Kind::Pair { read: other, write: one }];
        self.adopt_pair(call, at, kinds)
    }
}
