//! Emulates netlink and UDP sockets. UDP datagrams reach only sockets of the same group and an
//! emulated name server.

use super::interfaces::{self, internet, internet_address};
use super::{Call, Outcome, fail_with};
use crate::file::{Datagrams, FileId, Kind, Receipt};
use crate::group::Group;
use crate::stand_ins::RESOLVER;
use std::net::{Ipv4Addr, SocketAddrV4};

const DNS_PORT: u16 = 53;
const DNS_ADDRESS: [u8; 2] = [0, 1];

fn netlink(process: u32) -> Vec<u8> {
    let mut address = vec![libc::AF_NETLINK as u8, 0, 0, 0];
    address.extend(process.to_le_bytes());
    address.resize(12, 0);
    address
}

impl Group {
    pub(super) fn datagrams(&mut self, file: FileId) -> Option<&mut Datagrams> {
        match &mut self.files.get_mut(file).kind {
            Kind::Datagrams(socket) => Some(socket),
            _ => None,
        }
    }

    pub(super) fn datagram_call(&mut self, call: &Call, file: FileId) -> Outcome {
        let [_, a, b, c, d, _] = call.arguments;
        match call.number {
            libc::SYS_connect => self.datagram_connect(call, file),
            libc::SYS_bind => self.datagram_bind(call, file),
            libc::SYS_shutdown => Outcome::Done(0),
            libc::SYS_getsockname | libc::SYS_getpeername => self.datagram_name(call, file),
            libc::SYS_getsockopt if (a as i32, b as i32) == (libc::SOL_SOCKET, libc::SO_ERROR) => {
                let error = self.datagrams(file).and_then(|socket| socket.error.take());
                call.memory.write(c, &error.unwrap_or(0).to_le_bytes());
                call.memory.write(d, &4u32.to_le_bytes());
                Outcome::Done(0)
            }
            libc::SYS_setsockopt
                if (a as i32, b as i32) == (libc::SOL_SOCKET, libc::SO_RCVTIMEO) =>
            {
                let span = call.timeval_ns(c);
                if let Some(socket) = self.datagrams(file) {
                    socket.receive_timeout_ns = (span > 0).then_some(span);
                }
                Outcome::Native
            }
            libc::SYS_getsockopt => Outcome::Native,
            libc::SYS_setsockopt if a as i32 == libc::SOL_SOCKET => Outcome::Native,
            libc::SYS_setsockopt => Outcome::Done(0),
            _ => fail_with(libc::EOPNOTSUPP),
        }
    }

    fn internet_at(&self, call: &Call, at: u64) -> Option<SocketAddrV4> {
        let is_internet = i32::from(call.memory.u16(at)) == libc::AF_INET;
        is_internet.then(|| internet_address(call, at))
    }

    fn datagram_connect(&mut self, call: &Call, file: FileId) -> Outcome {
        let peer = self.internet_at(call, call.arguments[1]);
        if peer.is_some_and(|peer| !self.is_reachable(*peer.ip())) {
            return fail_with(libc::ENETUNREACH);
        }
        self.assign_port(file);
        if let Some(socket) = self.datagrams(file) {
            socket.peer = peer;
        }
        Outcome::Done(0)
    }

    fn is_reachable(&self, ip: Ipv4Addr) -> bool {
        let is_machine = self.launch.hosts.values().any(|known| *known == ip);
        ip.is_loopback() || ip.is_unspecified() || ip == RESOLVER || is_machine
    }

    fn assign_port(&mut self, file: FileId) {
        let port = self.take_port();
        if let Some(socket) = self.datagrams(file)
            && socket.local_port == 0
        {
            socket.local_port = port;
        }
    }

    fn datagram_bind(&mut self, call: &Call, file: FileId) -> Outcome {
        let wanted = self.internet_at(call, call.arguments[1]).map_or(0, |address| address.port());
        if wanted == 0 {
            self.assign_port(file);
        } else if self.files.bound(wanted).is_some_and(|other| other != file) {
            return fail_with(libc::EADDRINUSE);
        } else if let Some(socket) = self.datagrams(file) {
            socket.local_port = wanted;
        }
        Outcome::Done(0)
    }

    fn datagram_name(&mut self, call: &Call, file: FileId) -> Outcome {
        let [_, at, length, ..] = call.arguments;
        let own = self.own_address();
        let Some(socket) = self.datagrams(file) else { return fail_with(libc::ENOTSOCK) };
        let address = match (call.number, socket.peer) {
            _ if socket.is_netlink => netlink(call.process),
            (libc::SYS_getpeername, Some(peer)) => internet(peer),
            (libc::SYS_getpeername, None) => return fail_with(libc::ENOTCONN),
            (_, peer) => {
                let ip = match peer {
                    None => Ipv4Addr::UNSPECIFIED,
                    Some(peer) if peer.ip().is_loopback() || peer.ip().is_unspecified() => {
                        Ipv4Addr::LOCALHOST
                    }
                    Some(_) => own,
                };
                internet(SocketAddrV4::new(ip, socket.local_port))
            }
        };
        let room = (call.memory.u32(length) as usize).min(address.len());
        call.memory.write(at, &address[..room]);
        call.memory.write(length, &(address.len() as u32).to_le_bytes());
        Outcome::Done(0)
    }

    pub(super) fn own_address(&self) -> Ipv4Addr {
        self.launch.address(&self.launch.host_name).unwrap_or(Ipv4Addr::LOCALHOST)
    }

    pub(super) fn receive_datagram(&mut self, call: &Call, file: FileId) -> Outcome {
        let room = call.room();
        let keeps = call.has(libc::MSG_PEEK);
        let Some(socket) = self.datagrams(file) else { return fail_with(libc::ENOTSOCK) };
        if let Some(error) = socket.error.take() {
            return fail_with(error);
        }
        let timeout = socket.receive_timeout_ns;
        let receipt =
            if keeps { socket.received.front().cloned() } else { socket.received.pop_front() };
        let Some(Receipt { bytes, sender }) = receipt else {
            if call.has(libc::MSG_DONTWAIT) || call.has_expired || self.is_nonblocking(call) {
                return fail_with(libc::EAGAIN);
            }
            return call.block_restartable(crate::process::Interest::Files, call.deadline(timeout));
        };
        let length = bytes.len().min(room);
        call.scatter(&bytes[..length]);
        write_sender(call, &sender, bytes.len() > room);
        Outcome::Done(if call.has(libc::MSG_TRUNC) { bytes.len() } else { length } as i64)
    }

    pub(super) fn send_datagram(&mut self, call: &Call, file: FileId, bytes: Vec<u8>) -> Outcome {
        let length = bytes.len() as i64;
        let at = match call.number {
            libc::SYS_sendto => call.arguments[4],
            libc::SYS_sendmsg => call.memory.u64(call.arguments[1]),
            _ => 0,
        };
        self.assign_port(file);
        let own = self.own_address();
        let told = if at == 0 { None } else { self.internet_at(call, at) };
        let Some(socket) = self.datagrams(file) else { return fail_with(libc::ENOTSOCK) };
        if let Some(error) = socket.error.take() {
            return fail_with(error);
        }
        if socket.is_netlink {
            let answers = interfaces::answers(&bytes, call.process, own);
            self.queue_datagrams(file, answers, netlink(0));
            return Outcome::Done(length);
        }
        let Some(to) = told.or(socket.peer) else { return fail_with(libc::EDESTADDRREQ) };
        let ip = if to.ip().is_loopback() { Ipv4Addr::LOCALHOST } else { own };
        let from = SocketAddrV4::new(ip, socket.local_port);
        self.deliver_datagram(file, from, to, bytes).unwrap_or(Outcome::Done(length))
    }

    fn deliver_datagram(
        &mut self,
        file: FileId,
        from: SocketAddrV4,
        to: SocketAddrV4,
        bytes: Vec<u8>,
    ) -> Option<Outcome> {
        if to == SocketAddrV4::new(RESOLVER, DNS_PORT) {
            let answer = self.answer_dns(&bytes);
            self.queue_datagrams(file, answer.into_iter().collect(), internet(to));
        } else if self.is_own(*to.ip())
            && let Some(other) = self.files.bound(to.port())
        {
            self.queue_datagrams(other, vec![bytes], internet(from));
        } else if !self.is_reachable(*to.ip()) {
            return Some(fail_with(libc::ENETUNREACH));
        } else if let Some(socket) = self.datagrams(file).filter(|socket| socket.peer.is_some()) {
            socket.error = Some(libc::ECONNREFUSED);
            self.files.raise_edge(file);
        }
        None
    }

    fn queue_datagrams(&mut self, file: FileId, all: Vec<Vec<u8>>, sender: Vec<u8>) {
        for bytes in all {
            let receipt = Receipt { bytes, sender: sender.clone() };
            if let Some(socket) = self.datagrams(file) {
                socket.received.push_back(receipt);
            }
            self.files.raise_edge(file);
        }
    }

    fn answer_dns(&self, question: &[u8]) -> Option<Vec<u8>> {
        const HEAD: usize = 12;
        let (mut at, mut name) = (HEAD, Vec::new());
        while let Some(length) = question.get(at).copied().filter(|length| *length > 0) {
            let label = question.get(at + 1..at + 1 + usize::from(length))?;
            name.push(String::from_utf8_lossy(label).to_lowercase());
            at += 1 + label.len();
        }
        let asked = question.get(at + 1..at + 5)?;
        let address = self.launch.address(&name.join("."));
        let told = address.filter(|_| asked[..2] == DNS_ADDRESS);
        let mut answer = question[..2].to_vec();
        answer.extend([0x81, if address.is_some() { 0x80 } else { 0x83 }]);
        answer.extend([0, 1, 0, u8::from(told.is_some()), 0, 0, 0, 0]);
        answer.extend(&question[HEAD..at + 5]);
        if let Some(address) = told {
            // Pointer to the name, type A, class IN, time to live of 60 s, and address length.
            answer.extend([0xc0, HEAD as u8, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
            answer.extend(address.octets());
        }
        Some(answer)
    }
}

fn write_sender(call: &Call, sender: &[u8], is_cut: bool) {
    let [_, message, _, _, at, length] = call.arguments;
    let memory = call.memory;
    match call.number {
        libc::SYS_recvfrom if at != 0 => {
            let room = (memory.u32(length) as usize).min(sender.len());
            memory.write(at, &sender[..room]);
            memory.write(length, &(sender.len() as u32).to_le_bytes());
        }
        libc::SYS_recvmsg => {
            let (at, room) = (memory.u64(message), memory.u32(message + 8) as usize);
            if at != 0 {
                memory.write(at, &sender[..room.min(sender.len())]);
                memory.write(message + 8, &(sender.len() as u32).to_le_bytes());
            }
            memory.write(message + 40, &0u64.to_le_bytes());
            let flags = if is_cut { libc::MSG_TRUNC } else { 0 };
            memory.write(message + 48, &flags.to_le_bytes());
        }
        _ => {}
    }
}
