use crate::hosts::real::console::{
    Changes, Channel, Console, ConsoleReply, ConsoleRequest, peer_address,
};
use crate::hosts::real::judged::{Key, Reading, Role, Trigger};
use crate::hosts::real::kind::Part;
use crate::hosts::real::peers::Peers;
use crate::hosts::real::work::{Work, next_message};
use bytes::{Bytes, BytesMut};
use fencepost_machine::wording::Wording;
use fencepost_machine::{ConnectionId, KeyChange};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddrV4;

const DIGITS: usize = 10;
const TWICE: &str = "/twice";
/// Codes of requests that change nothing, such as exists, getData, ping and setWatches.
const HARMLESS: &[i32] = &[3, 4, 8, 11, 12, 17, 18, 101, 105, 106];
const DELETES: &[i32] = &[2, 14, 20];
const CLOSES_SESSION: i32 = -11;
const PING_OF_SERVERS: [u8; 4] = [0, 0, 0, 5];

pub(super) struct ZooKeeperConsole {
    part: Part,
    is_reading: bool,
    received: BytesMut,
    peers: Peers,
    sessions: BTreeMap<SocketAddrV4, String>,
    holders: BTreeMap<(String, String), (String, String)>,
}

type Ephemeral = (String, String);

impl ZooKeeperConsole {
    pub(super) fn of(part: &Part) -> ZooKeeperConsole {
        ZooKeeperConsole {
            part: part.clone(),
            is_reading: false,
            received: BytesMut::new(),
            peers: Peers::default(),
            sessions: BTreeMap::new(),
            holders: BTreeMap::new(),
        }
    }

    fn reads(&mut self, text: &str) -> Option<Reading> {
        // A server without a leader omits this heading.
        let (_, nodes) = text.split_once("ephemeral nodes dump:")?;
        let (nodes, connections) = nodes.split_once("Connections dump:")?;
        let addresses = self.connections(connections);
        let keys = self.heads(&ephemerals(nodes), &addresses);
        // Only the leader, or a single server, reports when sessions expire.
        let leads = text.contains("Session Sets (");
        Some(Reading { keys, role: Role::Member { leads } })
    }

    fn connections(&mut self, text: &str) -> BTreeMap<String, SocketAddrV4> {
        let of_line = |line: &str| {
            let (address, session) =
                line.trim().strip_prefix("ip: ")?.split_once(" sessionId: ")?;
            Some((session.to_owned(), peer_address(address)?))
        };
        let found: BTreeMap<String, SocketAddrV4> = text.lines().filter_map(of_line).collect();
        self.sessions.extend(found.iter().map(|(session, address)| (*address, session.clone())));
        found
    }

    fn heads(
        &mut self,
        ephemerals: &[Ephemeral],
        addresses: &BTreeMap<String, SocketAddrV4>,
    ) -> Vec<Key> {
        let mut locks: BTreeMap<String, Vec<(u64, &Ephemeral)>> = BTreeMap::new();
        for node in ephemerals {
            if let Some((lock, number)) = self.lock_of(&node.0) {
                locks.entry(lock).or_default().push((number, node));
            }
        }
        let mut keys = Vec::new();
        for (lock, mut contenders) in locks {
            contenders.sort();
            let mut seen = BTreeSet::new();
            let twice = contenders.iter().find(|(_, (_, session))| !seen.insert(session.clone()));
            let both = [(lock.clone(), contenders.first()), (lock + TWICE, twice)];
            for (name, contender) in both {
                let Some((_, (path, session))) = contender else { continue };
                let value = path.rsplit('/').next().unwrap_or_default().to_owned();
                self.holders.insert((name.clone(), value.clone()), (session.clone(), path.clone()));
                keys.push(Key {
                    name: Bytes::from(name),
                    value: Bytes::from(value),
                    owner: self.peers.owner(addresses.get(session).copied()),
                    ..Key::default()
                });
            }
        }
        keys
    }

    fn lock_of(&self, path: &str) -> Option<(String, u64)> {
        let below = path.strip_prefix('/')?;
        if !below.starts_with(&self.part.prefix()) {
            return None;
        }
        let contended =
            below.rsplit_once('/').and_then(|(lock, name)| Some((lock, sequence(name)?)));
        let (lock, number) = contended.unwrap_or((below, 0));
        Some((lock.strip_suffix("/leases").unwrap_or(lock).to_owned(), number))
    }

    fn note_request(&self, by: ConnectionId, operation: i32, bytes: &[u8]) {
        let world = &self.part.world;
        if DELETES.contains(&operation) {
            world.note_request(self.part.node, by, bytes);
        }
        let session = self.peers.address(by).and_then(|address| self.sessions.get(&address));
        if let (CLOSES_SESSION, Some(session)) = (operation, session) {
            world.note_request(self.part.node, by, session.as_bytes());
        }
    }
}

impl Console for ZooKeeperConsole {
    fn is_ready(&self) -> bool {
        true
    }

    fn channels_to_open(&mut self) -> Vec<ConsoleRequest> {
        Vec::new()
    }

    fn opened(&mut self, _: Channel) -> Vec<ConsoleRequest> {
        vec![ConsoleRequest::Send(0, b"dump".to_vec())]
    }

    fn closed(&mut self, _: Channel) -> Vec<ConsoleReply> {
        let text = String::from_utf8_lossy(&self.received.split()).into_owned();
        let was_reading = std::mem::take(&mut self.is_reading);
        was_reading.then(|| ConsoleReply::Reading(self.reads(&text))).into_iter().collect()
    }

    fn read(&mut self) -> Vec<ConsoleRequest> {
        self.is_reading = true;
        vec![ConsoleRequest::Open(0)]
    }

    fn is_waiting(&self) -> bool {
        self.is_reading
    }

    fn receive(&mut self, _: Channel, bytes: &[u8]) -> (Vec<ConsoleRequest>, Vec<ConsoleReply>) {
        self.received.extend_from_slice(bytes);
        (Vec::new(), Vec::new())
    }

    fn changes(&self) -> Changes {
        Changes { by_syncs: true, ..Changes::default() }
    }

    fn next_work(&mut self, by: ConnectionId, buffer: &mut BytesMut, is_raw: bool) -> Option<Work> {
        match next_message(by, buffer, is_raw)? {
            Work::Command { by, bytes, cause } => {
                let operation = operation(&bytes);
                operation.into_iter().for_each(|it| self.note_request(by, it, &bytes));
                let is_harmless = operation.is_some_and(|it| HARMLESS.contains(&it));
                let cause: Option<Trigger> = cause.filter(|_| !is_harmless);
                Some(Work::Command { by, bytes, cause })
            }
            Work::Raw { by, bytes, .. } => {
                let changes = !bytes.starts_with(&PING_OF_SERVERS);
                Some(Work::Raw { by, bytes, changes })
            }
            other => Some(other),
        }
    }

    fn note_peer(&mut self, connection: ConnectionId, address: SocketAddrV4) {
        self.peers.note_peer(connection, address);
    }

    fn removal_of(
        &self,
        before: &Key,
        _: Option<&Key>,
    ) -> Option<(KeyChange, Option<ConnectionId>)> {
        let text = |bytes: &Bytes| String::from_utf8_lossy(bytes).into_owned();
        let holder = self.holders.get(&(text(&before.name), text(&before.value)));
        let asked = holder.and_then(|(session, path)| {
            self.part.world.last_requester(&[session.clone(), path.clone()])
        });
        Some(match asked {
            None => (KeyChange::Expired, None),
            Some((node, by)) => (KeyChange::Removed, (node == self.part.node).then_some(by)),
        })
    }

    fn sign_of_life(&self) -> fn(&[u8]) -> bool {
        |bytes| bytes.len() == 12 && operation(bytes) == Some(11)
    }

    fn wording(&self) -> Wording {
        fencepost_zookeeper::wording
    }
}

fn operation(bytes: &[u8]) -> Option<i32> {
    let number = bytes.get(8..12)?;
    Some(i32::from_be_bytes(number.try_into().ok()?))
}

fn ephemerals(text: &str) -> Vec<Ephemeral> {
    let (mut found, mut session) = (Vec::new(), String::new());
    for line in text.lines() {
        let word = line.trim();
        if let Some(id) = word.strip_suffix(':').filter(|id| id.starts_with("0x")) {
            session = id.to_owned();
        } else if word.starts_with('/') {
            found.push((word.to_owned(), session.clone()));
        }
    }
    found
}

fn sequence(name: &str) -> Option<u64> {
    let digits = name.get(name.len().checked_sub(DIGITS)?..)?;
    digits.parse().ok().filter(|_| digits.bytes().all(|digit| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::real::judged::Owner;
    use crate::hosts::real::zookeeper::KIND;
    use fencepost_faults::Node;

    const DUMP: &str = "SessionTracker dump:\nSession Sets (1)/(1):\n1 expire at Tue:\n\t0x1a\n\
        ephemeral nodes dump:\nSessions with Ephemerals (2):\n0x1a:\n\t/lock/n-0000000002\n\
        0x1b:\n\t/lock/n-0000000001\n\t/other\nConnections dump:\nConnections Sets (1)/(2):\n\
        2 expire at Tue:\n\tip: /10.0.1.2:40001 sessionId: 0x1b\n";

    fn console() -> ZooKeeperConsole {
        ZooKeeperConsole::of(&Part::for_tests(&KIND, Node::Server(1)))
    }

    fn request(operation: i32, text: &str) -> BytesMut {
        let mut bytes = BytesMut::from(&[0u8; 8][..]);
        bytes.extend_from_slice(&operation.to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes
    }

    #[test]
    fn the_lowest_number_holds_for_the_connection_of_its_session() {
        let mut console = console();
        console.note_peer(ConnectionId(2), peer_address("10.0.1.2:40001").unwrap());
        let reading = console.reads(DUMP).unwrap();
        assert_eq!(reading.role, Role::Member { leads: true });
        let [head] = &reading.keys[..] else { panic!("{:?}", reading.keys) };
        assert_eq!((&head.name[..], &head.value[..]), (&b"lock"[..], &b"n-0000000001"[..]));
        assert_eq!(head.owner, Owner::Connection(Some(ConnectionId(2))));
        assert_eq!(console.removal_of(head, None), Some((KeyChange::Expired, None)));
        let by = ConnectionId(2);
        console.next_work(by, &mut request(2, "/lock/n-0000000001"), false);
        assert_eq!(console.removal_of(head, None), Some((KeyChange::Removed, Some(by))));
    }

    #[test]
    fn a_session_that_its_client_closes_has_not_expired() {
        let mut console = console();
        console.note_peer(ConnectionId(2), peer_address("10.0.1.2:40001").unwrap());
        let head = console.reads(DUMP).unwrap().keys.remove(0);
        console.next_work(ConnectionId(2), &mut request(CLOSES_SESSION, ""), false);
        let removed = (KeyChange::Removed, Some(ConnectionId(2)));
        assert_eq!(console.removal_of(&head, None), Some(removed));
    }

    #[test]
    fn a_server_without_a_leader_says_nothing() {
        assert!(console().reads("This ZooKeeper instance is not currently serving").is_none());
    }

    #[test]
    fn requests_that_only_read_need_no_reading() {
        let mut console = console();
        let mut cause = |operation| match console.next_work(
            ConnectionId(1),
            &mut request(operation, "/lock"),
            false,
        ) {
            Some(Work::Command { cause, .. }) => cause.is_some(),
            _ => panic!(),
        };
        assert_eq!([cause(1), cause(3), cause(11), cause(15)], [true, false, false, true]);
    }
}
