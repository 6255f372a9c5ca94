//! The network interfaces that programs see: loopback, and one with the address of the machine.

use super::{Call, Outcome, fail_with};
use crate::group::Group;
use crate::sys::filter::FIRST_QUESTION;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::Range;

pub(super) const QUESTIONS: Range<u64> = FIRST_QUESTION..0x8a00;
const SIOCGIFNAME: u64 = 0x8910;
const SIOCGIFCONF: u64 = 0x8912;
const SIOCGIFFLAGS: u64 = 0x8913;
const SIOCGIFADDR: u64 = 0x8915;
const SIOCGIFBRDADDR: u64 = 0x8919;
const SIOCGIFNETMASK: u64 = 0x891b;
const SIOCGIFMTU: u64 = 0x8921;
const SIOCGIFHWADDR: u64 = 0x8927;
const SIOCGIFINDEX: u64 = 0x8933;
const ENTRY: usize = 40;
const NAME: usize = 16;

const LOOPBACK_FLAGS: u32 = 0x49;
const FLAGS: u32 = 0x1043;

const NLMSG_DONE: u16 = 3;
const RTM_NEWLINK: u16 = 16;
const RTM_GETLINK: u16 = 18;
const RTM_NEWADDR: u16 = 20;
const RTM_GETADDR: u16 = 22;

struct Interface {
    index: u32,
    name: &'static str,
    ip: Ipv4Addr,
    prefix: u8,
    hardware: [u8; 6],
    kind: u16,
    flags: u32,
    mtu: u32,
}

fn interfaces(own: Ipv4Addr) -> [Interface; 2] {
    let [a, b, c, d] = own.octets();
    let lo = Interface {
        index: 1,
        name: "lo",
        ip: Ipv4Addr::LOCALHOST,
        prefix: 8,
        hardware: [0; 6],
        kind: libc::ARPHRD_LOOPBACK,
        flags: LOOPBACK_FLAGS,
        mtu: 65_536,
    };
    let eth0 = Interface {
        index: 2,
        name: "eth0",
        ip: own,
        prefix: 16,
        hardware: [2, 0x42, a, b, c, d],
        kind: libc::ARPHRD_ETHER,
        flags: FLAGS,
        mtu: 1_500,
    };
    [lo, eth0]
}

impl Interface {
    fn mask(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(u32::MAX << (32 - self.prefix))
    }

    fn broadcast(&self) -> Ipv4Addr {
        self.ip | !self.mask()
    }

    fn name_field(&self) -> Vec<u8> {
        let mut field = self.name.as_bytes().to_vec();
        field.resize(NAME, 0);
        field
    }

    fn link(&self) -> Vec<u8> {
        let mut message = vec![0, 0];
        message.extend(self.kind.to_le_bytes());
        [self.index, self.flags, 0].iter().for_each(|word| message.extend(word.to_le_bytes()));
        let name = [self.name.as_bytes(), &[0]].concat();
        for (kind, value) in
            [(3, name.as_slice()), (4, &self.mtu.to_le_bytes()), (1, &self.hardware)]
        {
            message.extend(attribute(kind, value));
        }
        message
    }

    fn address(&self) -> Vec<u8> {
        let mut message = vec![libc::AF_INET as u8, self.prefix, 0x80, 0];
        message.extend(self.index.to_le_bytes());
        let name = [self.name.as_bytes(), &[0]].concat();
        let (ip, broadcast) = (self.ip.octets(), self.broadcast().octets());
        for (kind, value) in [(1, ip.as_slice()), (2, &ip), (4, &broadcast), (3, name.as_slice())] {
            message.extend(attribute(kind, value));
        }
        message
    }
}

pub(super) fn internet(address: SocketAddrV4) -> Vec<u8> {
    let mut bytes = vec![libc::AF_INET as u8, 0];
    bytes.extend(address.port().to_be_bytes());
    bytes.extend(address.ip().octets());
    bytes.resize(16, 0);
    bytes
}

/// Reads an address of the family `AF_INET`.
pub(super) fn internet_address(call: &Call, at: u64) -> SocketAddrV4 {
    let ip = Ipv4Addr::from_bits(call.memory.u32(at + 4).swap_bytes());
    SocketAddrV4::new(ip, call.memory.u16(at + 2).swap_bytes())
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = (value.len() as u16 + 4).to_le_bytes().to_vec();
    bytes.extend(kind.to_le_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

pub(super) fn answers(question: &[u8], process: u32, own: Ipv4Addr) -> Vec<Vec<u8>> {
    let half =
        |at: usize| question.get(at..at + 2).map_or(0, |it| u16::from_le_bytes([it[0], it[1]]));
    let sequence = question.get(8..12).unwrap_or(&[0; 4]);
    let message = |kind: u16, body: Vec<u8>| {
        let mut bytes = (body.len() as u32 + 16).to_le_bytes().to_vec();
        // The second number is the flag `NLM_F_MULTI`.
        bytes.extend([kind.to_le_bytes(), 2u16.to_le_bytes()].concat());
        bytes.extend(sequence);
        bytes.extend(process.to_le_bytes());
        bytes.extend(body);
        bytes
    };
    let all = interfaces(own);
    let told: Vec<Vec<u8>> = match half(4) {
        RTM_GETLINK => all.iter().map(|one| message(RTM_NEWLINK, one.link())).collect(),
        RTM_GETADDR => all.iter().map(|one| message(RTM_NEWADDR, one.address())).collect(),
        _ => Vec::new(),
    };
    let told = told.concat();
    let done = message(NLMSG_DONE, vec![0; 4]);
    if told.is_empty() { vec![done] } else { vec![told, done] }
}

impl Group {
    pub(super) fn query_interface(&mut self, call: &Call, question: u64, at: u64) -> Outcome {
        let all = interfaces(self.own_address());
        if question == SIOCGIFCONF {
            return list_interfaces(call, &all, at);
        }
        let asked = call.memory.read(at, ENTRY);
        let index = call.memory.u32(at + NAME as u64);
        let found = all.iter().find(|one| match question {
            SIOCGIFNAME => one.index == index,
            _ => asked.starts_with(&[one.name.as_bytes(), &[0]].concat()),
        });
        let Some(found) = found else { return fail_with(libc::ENODEV) };
        let address = |ip| internet(SocketAddrV4::new(ip, 0));
        let value = match question {
            SIOCGIFNAME => {
                call.memory.write(at, &found.name_field());
                return Outcome::Done(0);
            }
            SIOCGIFFLAGS => (found.flags as u16).to_le_bytes().to_vec(),
            SIOCGIFADDR => address(found.ip),
            SIOCGIFBRDADDR => address(found.broadcast()),
            SIOCGIFNETMASK => address(found.mask()),
            SIOCGIFMTU => found.mtu.to_le_bytes().to_vec(),
            SIOCGIFHWADDR => [found.kind.to_le_bytes().as_slice(), &found.hardware].concat(),
            SIOCGIFINDEX => found.index.to_le_bytes().to_vec(),
            _ => return fail_with(libc::EINVAL),
        };
        call.memory.write(at + NAME as u64, &value);
        Outcome::Done(0)
    }
}

fn list_interfaces(call: &Call, all: &[Interface], at: u64) -> Outcome {
    let (room, place) = (call.memory.u32(at) as usize, call.memory.u64(at + 8));
    let mut bytes = Vec::new();
    for one in all {
        bytes.extend(one.name_field());
        bytes.extend(internet(SocketAddrV4::new(one.ip, 0)));
        bytes.resize(bytes.len().next_multiple_of(ENTRY), 0);
    }
    if place != 0 {
        bytes.truncate(room / ENTRY * ENTRY);
        call.memory.write(place, &bytes);
    }
    call.memory.write(at, &(bytes.len() as u32).to_le_bytes());
    Outcome::Done(0)
}
