use crate::hosts::real::console::{
    Changes, Channel, Console, ConsoleReply, ConsoleRequest, peer_address,
};
use crate::hosts::real::judged::{Key, Owner, Reading, Role, Trigger};
use crate::hosts::real::kind::Part;
use crate::hosts::real::peers::Peers;
use bytes::{Bytes, BytesMut};
use fencepost_clients::sql::advisory::number;
use fencepost_clients::sql::protocol::{Answer, startup, statement, sync};
use fencepost_machine::wording::Wording;
use fencepost_machine::{ConnectionId, KeyChange, OperatorAction};
use std::net::SocketAddrV4;

const ROLE: &str = "role";
const ADVISORY: &str = "advisory";
const ROW: &str = "row";
const SHEDLOCK: &str = "shedlock";
/// Command tags of statements that changed no row.
const COUNTS_NO_ROW: [&str; 3] = ["UPDATE 0", "DELETE 0", "INSERT 0 0"];

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Closed,
    LogsIn,
    Ready,
    Reads,
    Types,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct LockRow {
    at_us: i64,
    until_us: i64,
    is_released: bool,
}

pub(super) struct PostgresqlConsole {
    lock: String,
    ttl_us: i64,
    stage: Stage,
    received: BytesMut,
    rows: Vec<Vec<Option<String>>>,
    has_failed: bool,
    is_standby: bool,
    taken: Option<LockRow>,
    peers: Peers,
}

impl PostgresqlConsole {
    pub(super) fn of(part: &Part) -> PostgresqlConsole {
        PostgresqlConsole {
            lock: part.lock.clone(),
            ttl_us: i64::try_from(part.ttl.0).unwrap_or(i64::MAX),
            stage: Stage::Closed,
            received: BytesMut::new(),
            rows: Vec::new(),
            has_failed: false,
            is_standby: false,
            taken: None,
            peers: Peers::default(),
        }
    }

    /// Columns: subject, owner, session's address, start and end (in µs since the Unix epoch).
    fn question(&self) -> String {
        let lock = format!("'{}'", self.lock.replace('\'', "''"));
        let advisory = number(&self.lock);
        let ttl_us = self.ttl_us;
        let us = |column: &str| format!("(extract(epoch FROM {column}) * 1000000)::int8::text");
        let (created, expired) = (us("created_date"), us("expired_after"));
        let (taken, until) = (us("locked_at"), us("lock_until"));
        let now = us("clock_timestamp()::timestamp");
        let address = "host(a.client_addr) || ':' || a.client_port";
        format!(
            "SELECT '{ROLE}', pg_is_in_recovery()::text, NULL, {now}, NULL \
             UNION ALL SELECT '{ADVISORY}', l.pid::text, {address}, NULL, NULL \
             FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid \
             WHERE l.locktype = 'advisory' AND l.mode = 'ExclusiveLock' AND l.granted \
             AND l.objsubid = 1 AND (l.classid::int8 << 32 | l.objid::int8) = {advisory} \
             UNION ALL SELECT '{ROW}', l.pid::text, {address}, NULL, NULL \
             FROM locks t JOIN pg_locks l ON l.locktype = 'transactionid' \
             AND l.transactionid = t.xmax AND l.mode = 'ExclusiveLock' AND l.granted \
             LEFT JOIN pg_stat_activity a ON a.pid = l.pid WHERE t.name = {lock} \
             UNION ALL SELECT 'int_lock', client_id, NULL, NULL, \
             ({created}::int8 + {ttl_us})::text FROM int_lock WHERE lock_key = {lock} \
             UNION ALL SELECT 'int7_lock', client_id, NULL, NULL, {expired} \
             FROM int7_lock WHERE lock_key = {lock} \
             UNION ALL SELECT '{SHEDLOCK}', locked_by, NULL, {taken}, {until} \
             FROM shedlock WHERE name = {lock}"
        )
    }

    fn request(&mut self, stage: Stage, sql: &str) -> Vec<ConsoleRequest> {
        self.stage = stage;
        let mut bytes = Vec::new();
        statement(&mut bytes, sql, &[]);
        sync(&mut bytes);
        vec![ConsoleRequest::Send(0, bytes)]
    }

    fn finish_query(&mut self) -> Option<ConsoleReply> {
        let was = std::mem::replace(&mut self.stage, Stage::Ready);
        let rows = std::mem::take(&mut self.rows);
        let has_failed = std::mem::take(&mut self.has_failed);
        (was == Stage::Reads)
            .then(|| ConsoleReply::Reading((!has_failed).then(|| self.reads(&rows))))
    }

    fn reads(&mut self, rows: &[Vec<Option<String>>]) -> Reading {
        let mut keys = Vec::new();
        let (mut has_shedlock, mut now_us) = (false, None);
        for row in rows {
            let [Some(about), Some(owner), address, taken, until] = &row[..] else {
                continue;
            };
            let time = |text: &Option<String>| text.as_deref()?.parse::<i64>().ok();
            let until_us = time(until);
            if about == ROLE {
                self.is_standby = owner == "true";
                now_us = time(taken);
                continue;
            }
            if about == SHEDLOCK {
                has_shedlock = true;
                if !self.is_taken(time(taken), until_us, now_us) {
                    continue;
                }
            }
            let address: Option<SocketAddrV4> = address.as_deref().and_then(peer_address);
            let is_of_session = matches!(about.as_str(), ADVISORY | ROW);
            keys.push(Key {
                name: Bytes::from(self.lock.clone()),
                form: form(about),
                value: Bytes::from(owner.trim_end().to_owned()),
                expires_at_ms: until_us.map(|until| until.div_euclid(1_000)),
                version: time(taken).and_then(|at| u64::try_from(at).ok()).unwrap_or(0),
                token: None,
                owner: match is_of_session {
                    true => self.peers.owner(address),
                    false => Owner::OfTrigger,
                },
            });
        }
        if !has_shedlock {
            self.taken = None;
        }
        Reading { keys, role: Role::Member { leads: !self.is_standby } }
    }

    /// A release sets the end of ShedLock's row to an earlier or the current time.
    fn is_taken(&mut self, at: Option<i64>, until: Option<i64>, now_us: Option<i64>) -> bool {
        let (Some(at_us), Some(until_us)) = (at, until) else { return false };
        let is_released = match &self.taken {
            Some(before) if before.at_us == at_us => {
                let is_over =
                    || until_us != before.until_us && now_us.is_some_and(|now| until_us <= now);
                before.is_released || until_us < before.until_us || is_over()
            }
            // In the first reading, a row that lasts less than a lease is a released lock.
            None => until_us - at_us < self.ttl_us - 1_000,
            Some(_) => false,
        };
        self.taken = Some(LockRow { at_us, until_us, is_released });
        !is_released
    }
}

fn form(about: &str) -> u8 {
    match about {
        ADVISORY => 1,
        ROW => 2,
        "int_lock" => 3,
        "int7_lock" => 4,
        _ => 5,
    }
}

impl Console for PostgresqlConsole {
    fn is_ready(&self) -> bool {
        matches!(self.stage, Stage::Ready | Stage::Reads | Stage::Types)
    }

    fn channels_to_open(&mut self) -> Vec<ConsoleRequest> {
        match self.stage {
            Stage::Closed => vec![ConsoleRequest::Open(0)],
            _ => Vec::new(),
        }
    }

    fn opened(&mut self, _: Channel) -> Vec<ConsoleRequest> {
        self.stage = Stage::LogsIn;
        vec![ConsoleRequest::Send(0, startup())]
    }

    fn closed(&mut self, _: Channel) -> Vec<ConsoleReply> {
        self.stage = Stage::Closed;
        self.received.clear();
        self.rows.clear();
        self.has_failed = false;
        Vec::new()
    }

    fn read(&mut self) -> Vec<ConsoleRequest> {
        let question = self.question();
        self.request(Stage::Reads, &question)
    }

    fn is_waiting(&self) -> bool {
        matches!(self.stage, Stage::Reads | Stage::Types)
    }

    fn receive(&mut self, _: Channel, bytes: &[u8]) -> (Vec<ConsoleRequest>, Vec<ConsoleReply>) {
        self.received.extend_from_slice(bytes);
        let mut heard = Vec::new();
        while let Ok(Some(answer)) = Answer::take_from(&mut self.received) {
            match answer {
                Answer::Row(row) => self.rows.push(row),
                Answer::Error(_) => self.has_failed = true,
                Answer::Ready { .. } => heard.extend(self.finish_query()),
                Answer::IsStandby(is_standby) => self.is_standby = is_standby,
                Answer::Key(_) | Answer::Complete(_) | Answer::Other => {}
            }
        }
        (Vec::new(), heard)
    }

    fn changes(&self) -> Changes {
        Changes { by_ends: true, by_replay: self.is_standby, ..Changes::default() }
    }

    fn note_peer(&mut self, connection: ConnectionId, address: SocketAddrV4) {
        self.peers.note_peer(connection, address);
    }

    fn has_changed_nothing(&self, answer: &[u8]) -> bool {
        let mut bytes = BytesMut::from(answer);
        let mut has_counted = false;
        while let Ok(Some(answer)) = Answer::take_from(&mut bytes) {
            match answer {
                Answer::Complete(tag) if COUNTS_NO_ROW.contains(&&*tag) => has_counted = true,
                Answer::Complete(tag) if tag == "BEGIN" => {}
                Answer::Complete(_) | Answer::Error(_) | Answer::Row(_) => return false,
                _ => {}
            }
        }
        has_counted
    }

    fn removal_of(
        &self,
        before: &Key,
        now: Option<&Key>,
    ) -> Option<(KeyChange, Option<ConnectionId>)> {
        let is_of_session = before.form <= form(ROW);
        (is_of_session || now.is_none()).then_some((KeyChange::Removed, None))
    }

    fn supports(&self, action: OperatorAction) -> bool {
        action == OperatorAction::Promote && self.is_standby
    }

    fn operate(&mut self, _: OperatorAction) -> (Vec<ConsoleRequest>, Trigger) {
        (self.request(Stage::Types, "SELECT pg_promote(false)"), Trigger::Operator(None))
    }

    fn wording(&self) -> Wording {
        fencepost_postgresql::wording
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::real::postgresql::KIND;
    use fencepost_faults::Node;

    fn console() -> PostgresqlConsole {
        PostgresqlConsole::of(&Part::for_tests(&KIND, Node::Server(1)))
    }

    fn row(words: [Option<&str>; 5]) -> Vec<Option<String>> {
        words.map(|word| word.map(str::to_owned)).into()
    }

    #[test]
    fn an_advisory_lock_belongs_to_the_connection_of_its_session() {
        let mut console = console();
        console.note_peer(ConnectionId(4), peer_address("10.0.1.2:40007").unwrap());
        let rows = [
            row([Some(ROLE), Some("false"), None, None, None]),
            row([Some(ADVISORY), Some("112"), Some("10.0.1.2:40007"), None, None]),
        ];
        let reading = console.reads(&rows);
        assert_eq!(reading.role, Role::Member { leads: true });
        assert_eq!(reading.keys[0].owner, Owner::Connection(Some(ConnectionId(4))));
    }

    #[test]
    fn an_answer_that_counts_no_row_has_changed_nothing() {
        let complete = |tag: &str| {
            let length = u32::try_from(tag.len() + 5).unwrap().to_be_bytes();
            [&b"C"[..], &length, tag.as_bytes(), b"\0"].concat()
        };
        let of = |tags: &[&str]| {
            let mut answer: Vec<u8> = tags.iter().flat_map(|tag| complete(tag)).collect();
            answer.extend_from_slice(b"Z\0\0\0\x05T");
            console().has_changed_nothing(&answer)
        };
        assert!(of(&["UPDATE 0"]) && of(&["BEGIN", "UPDATE 0"]) && of(&["INSERT 0 0"]));
        assert!(!of(&["UPDATE 1"]) && !of(&["UPDATE 10"]) && !of(&["BEGIN", "INSERT 0 1"]));
        assert!(!of(&["UPDATE 0", "COMMIT"]) && !of(&["BEGIN"]) && !of(&[]));
    }

    #[test]
    fn a_row_of_shedlock_is_held_until_its_end_becomes_earlier_or_the_current_time() {
        let mut console = console();
        let held_at = |console: &mut PostgresqlConsole, now: &str, at: &str, until: &str| {
            let role = row([Some(ROLE), Some("false"), None, Some(now), None]);
            let row = row([Some(SHEDLOCK), Some("a"), None, Some(at), Some(until)]);
            console.reads(&[role, row]).keys.len()
        };
        let held = |console: &mut PostgresqlConsole, at: &str, until: &str| {
            held_at(console, "2000", at, until)
        };
        assert_eq!(held(&mut console, "1000", "10001000"), 1);
        assert_eq!(held(&mut console, "1000", "10001500"), 1, "extended");
        assert_eq!(held(&mut console, "1000", "2000"), 0, "released");
        assert_eq!(held(&mut console, "1000", "2000"), 0);
        assert_eq!(held(&mut console, "3000", "10003000"), 1, "taken again");
        assert_eq!(held_at(&mut console, "10004000", "3000", "10003000"), 1, "not released");
        assert_eq!(held_at(&mut console, "10005000", "3000", "10004500"), 0, "released late");
    }
}
