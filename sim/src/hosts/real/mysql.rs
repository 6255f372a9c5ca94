//! Real MariaDB servers. The console asks for the holder of the user lock (`IS_USED_LOCK`).

use super::RealSetup;
use super::console::{Changes, Channel, Console, ConsoleReply, ConsoleRequest, peer_address};
use super::judged::{Key, Reading, Role};
use super::kind::{FOLDER, Kind, Part, Recipe, command, version_after};
use super::peers::Peers;
use bytes::{Bytes, BytesMut};
use fencepost_clients::Coordinator;
use fencepost_clients::mysql::protocol::{Answer, Rows, login, query, quoted, take};
use fencepost_faults::{Micros, Node};
use fencepost_machine::wording::Wording;
use fencepost_machine::{ConnectionId, KeyChange};
use std::net::SocketAddrV4;

const PORT: u16 = 3_306;

pub(super) const KIND: Kind = Kind {
    coordinator: Coordinator::MySql,
    program: "mariadbd",
    expected: "a MariaDB server",
    version: |path| command(&[path, "--no-defaults", "--version"]),
    name_and_version: |said| {
        said.contains("MariaDB").then(|| version_after(said, "MariaDB", " Ver "))?
    },
    template: None,
    recipe,
    console: |part| Box::new(MysqlConsole::of(part)),
};

fn recipe(setup: &RealSetup<'_>, _: Node) -> Recipe {
    let at = |option: &str, file: &str| format!("--{option}={FOLDER}/{file}");
    let words = [
        "--no-defaults",
        "--user=root",
        "--skip-grant-tables",
        "--skip-networking=0",
        "--bind-address=0.0.0.0",
        "--port=3306",
        "--skip-name-resolve",
        // Small sizes, because every run starts new servers.
        "--innodb-log-file-size=4M",
        "--innodb-buffer-pool-size=8M",
        // The tracer supports neither asynchronous nor direct I/O.
        "--innodb-use-native-aio=0",
        "--innodb-flush-method=fsync",
        "--innodb-buffer-pool-load-at-startup=0",
    ];
    let own = [at("datadir", ""), at("socket", "socket"), at("pid-file", "pid"), at("tmpdir", "")];
    let path = std::iter::once(setup.binary.path.clone());
    let command = path.chain(words.map(str::to_owned)).chain(own).collect();
    Recipe { command, port: PORT, boot: Micros::from_secs(1), ..Recipe::default() }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Closed,
    Greeting,
    LogsIn,
    Ready,
    Reads,
}

struct MysqlConsole {
    lock: String,
    stage: Stage,
    received: BytesMut,
    answer: Answer,
    peers: Peers,
}

impl MysqlConsole {
    fn of(part: &Part) -> MysqlConsole {
        MysqlConsole {
            lock: part.lock.clone(),
            stage: Stage::Closed,
            received: BytesMut::new(),
            answer: Answer::default(),
            peers: Peers::default(),
        }
    }

    fn packet(&mut self, body: &[u8]) -> (Vec<ConsoleRequest>, Vec<ConsoleReply>) {
        if self.stage == Stage::Greeting {
            self.stage = Stage::LogsIn;
            return (vec![ConsoleRequest::Send(0, login())], Vec::new());
        }
        let rows = match self.answer.read(body) {
            Ok(None) => return (Vec::new(), Vec::new()),
            Ok(Some(Ok(rows))) => Some(rows),
            Ok(Some(Err(_))) | Err(_) => None,
        };
        self.answer = Answer::default();
        let was = std::mem::replace(&mut self.stage, Stage::Ready);
        let heard = (was == Stage::Reads)
            .then(|| ConsoleReply::Reading(rows.map(|rows| self.reads(&rows))));
        (Vec::new(), heard.into_iter().collect())
    }

    fn reads(&self, rows: &Rows) -> Reading {
        let holder = rows.first().and_then(|row| {
            let [Some(session), address] = &row[..] else { return None };
            let address: Option<SocketAddrV4> = address.as_deref().and_then(peer_address);
            Some(Key {
                name: Bytes::from(self.lock.clone()),
                value: Bytes::from(session.clone()),
                owner: self.peers.owner(address),
                ..Key::default()
            })
        });
        Reading { keys: holder.into_iter().collect(), role: Role::Member { leads: true } }
    }
}

impl Console for MysqlConsole {
    fn is_ready(&self) -> bool {
        matches!(self.stage, Stage::Ready | Stage::Reads)
    }

    fn channels_to_open(&mut self) -> Vec<ConsoleRequest> {
        match self.stage {
            Stage::Closed => vec![ConsoleRequest::Open(0)],
            _ => Vec::new(),
        }
    }

    fn opened(&mut self, _: Channel) -> Vec<ConsoleRequest> {
        self.stage = Stage::Greeting;
        Vec::new()
    }

    fn closed(&mut self, _: Channel) -> Vec<ConsoleReply> {
        (self.stage, self.answer) = (Stage::Closed, Answer::default());
        self.received.clear();
        Vec::new()
    }

    fn read(&mut self) -> Vec<ConsoleRequest> {
        self.stage = Stage::Reads;
        let holder = format!("IS_USED_LOCK({})", quoted(&self.lock));
        let session = format!(
            "SELECT {holder}, (SELECT host FROM information_schema.processlist WHERE id = {holder})"
        );
        vec![ConsoleRequest::Send(0, query(&session))]
    }

    fn is_waiting(&self) -> bool {
        self.stage == Stage::Reads
    }

    fn receive(&mut self, _: Channel, bytes: &[u8]) -> (Vec<ConsoleRequest>, Vec<ConsoleReply>) {
        self.received.extend_from_slice(bytes);
        let (mut asks, mut heard) = (Vec::new(), Vec::new());
        while let Ok(Some(body)) = take(&mut self.received) {
            let (more, told) = self.packet(&body);
            asks.extend(more);
            heard.extend(told);
        }
        (asks, heard)
    }

    fn changes(&self) -> Changes {
        Changes { by_ends: true, ..Changes::default() }
    }

    fn note_peer(&mut self, connection: ConnectionId, address: SocketAddrV4) {
        self.peers.note_peer(connection, address);
    }

    fn removal_of(&self, _: &Key, _: Option<&Key>) -> Option<(KeyChange, Option<ConnectionId>)> {
        Some((KeyChange::Removed, None))
    }

    fn wording(&self) -> Wording {
        fencepost_mysql::wording
    }
}

#[cfg(test)]
mod tests {
    use super::super::judged::Owner;
    use super::*;

    #[test]
    fn the_holder_is_the_connection_from_its_address() {
        let mut console = MysqlConsole::of(&Part::for_tests(&KIND, Node::Server(1)));
        let address = peer_address("10.0.1.2:40001").unwrap();
        console.note_peer(ConnectionId(3), address);
        let rows = vec![vec![Some("17".to_owned()), Some("10.0.1.2:40001".to_owned())]];
        let reading = console.reads(&rows);
        assert_eq!(reading.keys[0].owner, Owner::Connection(Some(ConnectionId(3))));
        assert_eq!(&reading.keys[0].value[..], b"17");
        assert!(console.reads(&vec![vec![None, None]]).keys.is_empty());
    }

    #[test]
    fn only_mariadb_says_its_version() {
        let said = "mariadbd  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu on x86_64\n";
        let version = (KIND.name_and_version)(said);
        assert_eq!(version, Some(("MariaDB".to_owned(), "10.11.6".to_owned())));
        assert_eq!((KIND.name_and_version)("mysqld  Ver 8.0.30 for Linux\n"), None);
    }
}
