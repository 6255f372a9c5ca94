use crate::code::{Operation, Refusal};
use crate::connection::{Client, Connection, Cut, Identity, Stage, cut};
use crate::jute::{Read, Reader};
use crate::password;
use crate::prepare::Kind;
use crate::reply;
use crate::server::{Role, ZooKeeper};
use crate::waiting::{RequestClass, Waiting};
use crate::words::{self, About};
use bytes::Bytes;
use fencepost_machine::ConnectionId;
use std::ops::Bound;

struct ConnectRequest {
    last_zxid: i64,
    timeout_ms: i32,
    session: i64,
    password: Option<Bytes>,
    is_told_read_only: bool,
}

impl ConnectRequest {
    fn read(frame: &[u8]) -> Read<ConnectRequest> {
        let reader = &mut Reader::new(frame);
        reader.int()?;
        Ok(ConnectRequest {
            last_zxid: reader.long()?,
            timeout_ms: reader.int()?,
            session: reader.long()?,
            password: reader.buffer()?.map(Bytes::copy_from_slice),
            is_told_read_only: reader.bool().is_ok(),
        })
    }
}

impl ZooKeeper {
    fn has_room(&self, connection: ConnectionId) -> bool {
        let host = self.connections.get(&connection).map(|open| &open.host);
        let clients = || {
            let connections = self.connections.values();
            connections.filter(|open| matches!(open.identity, Identity::Client(_)))
        };
        let of_its_host = clients().filter(|open| Some(&open.host) == host).count();
        self.config.has_room(clients().count(), of_its_host)
    }

    pub(crate) fn limit_unknown_connections(&mut self) {
        let connections = self.connections.iter();
        let strangers = connections.filter(|(_, open)| matches!(open.identity, Identity::Unknown));
        let mut strangers = strangers.map(|(connection, _)| *connection);
        if let Some(first) = strangers.next()
            && !self.config.has_room(strangers.count(), 0)
        {
            self.hang_up(first);
        }
    }

    pub(crate) fn greet(&mut self, connection: ConnectionId) {
        if !self.has_room(connection) {
            return self.hang_up(connection);
        }
        let about = self.about();
        let Some(open) = self.connections.get_mut(&connection) else { return };
        let word = open.input.get(..4).unwrap_or_default();
        if let Some(answer) = words::answer(word, about) {
            self.send(connection, answer.into());
            self.hang_up(connection);
        } else {
            open.identity = Identity::Client(Client::new());
        }
    }

    fn about(&self) -> About {
        let mode = match &self.role {
            _ if !self.is_serving() => None,
            Role::Leading(_) if self.config.is_alone() => Some("standalone"),
            Role::Leading(_) => Some("leader"),
            Role::Following(_) | Role::Looking => Some("follower"),
        };
        About {
            mode,
            zxid: self.store.tree.zxid,
            node_count: self.store.tree.node_count(),
            connections: self.connections.len(),
            received: self.counts.received,
            sent: self.counts.sent,
            outstanding: self.queues.len(),
        }
    }

    pub(crate) fn has_more(&self) -> bool {
        self.next_ready().is_some()
    }

    fn next_ready(&self) -> Option<ConnectionId> {
        let is_ready =
            |entry: &(&ConnectionId, &Connection)| entry.1.is_ready(self.config.frame_max);
        let after = (Bound::Excluded(self.last_served), Bound::Unbounded);
        let mut rotated = self.connections.range(after).chain(&self.connections);
        rotated.find(is_ready).map(|(connection, _)| *connection)
    }

    pub(crate) fn serve_next(&mut self) {
        let Some(connection) = self.next_ready() else { return };
        self.last_served = connection;
        let (is_serving, frame_max) = (self.is_serving(), self.config.frame_max);
        let Some(open) = self.connections.get_mut(&connection) else { return };
        let frame = match cut(&mut open.input, frame_max) {
            Cut::Frame(frame) if is_serving => frame,
            Cut::Incomplete => return,
            Cut::Frame(_) | Cut::Oversized => return self.hang_up(connection),
        };
        self.out.commands += 1;
        self.counts.received += 1;
        match self.client(connection).map(|client| client.stage) {
            Some(Stage::Connecting) => self.ask_for_session(connection, &frame),
            Some(Stage::Established) => self.take_request(connection, &frame),
            Some(Stage::Establishing) | None => {}
        }
    }

    fn ask_for_session(&mut self, connection: ConnectionId, frame: &[u8]) {
        let asked = ConnectRequest::read(frame);
        let Some(asked) = asked.ok().filter(|asked| asked.last_zxid <= self.store.tree.zxid) else {
            // Hang up on a malformed request, or if this server is behind the client's last zxid.
            return self.hang_up(connection);
        };
        let timeout_ms = self.config.session_timeout(asked.timeout_ms);
        let session = if asked.session == 0 { self.new_session() } else { asked.session };
        if asked.session != 0
            && let Some(earlier) = self.connection_of(session)
        {
            self.hang_up(earlier);
        }
        let Some(client) = self.client_mut(connection) else { return };
        (client.session, client.timeout_ms) = (session, timeout_ms);
        client.is_told_read_only = asked.is_told_read_only;
        client.stage = Stage::Establishing;
        if asked.session == 0 {
            let waiting = Waiting { connection, cxid: 0, what: RequestClass::OpenSession };
            self.submit(session, waiting, Kind::OpenSession { timeout_ms });
        } else if asked.password.as_deref() == Some(&password::of(session)) {
            self.revalidate(connection, session, timeout_ms);
        } else {
            self.establish(connection, false);
        }
    }

    fn new_session(&mut self) -> i64 {
        while self.store.tree.sessions.contains_key(&self.next_session) {
            self.next_session += 1;
        }
        self.next_session += 1;
        self.next_session - 1
    }

    fn revalidate(&mut self, connection: ConnectionId, session: i64, timeout_ms: i32) {
        let (now_ms, me) = (self.now_ms(), self.config.me);
        match &mut self.role {
            Role::Leading(leader) => {
                let is_valid = leader.revalidate(session, timeout_ms, now_ms, me);
                self.establish(connection, is_valid);
            }
            Role::Following(_) => self.ask_leader_to_revalidate(connection, session, timeout_ms),
            Role::Looking => self.hang_up(connection),
        }
    }

    fn take_request(&mut self, connection: ConnectionId, frame: &Bytes) {
        let mut reader = Reader::new(frame);
        let (Ok(cxid), Ok(number)) = (reader.int(), reader.int()) else {
            return self.hang_up(connection);
        };
        let body = frame.slice_ref(reader.rest());
        let operation = Operation::from_repr(number);
        if operation == Some(Operation::Auth) {
            self.send_to_client(connection, reply::refusal(cxid, 0, Refusal::AuthFailed));
            return self.hang_up(connection);
        }
        let Some((session, timeout_ms)) =
            self.client(connection).map(|client| (client.session, client.timeout_ms))
        else {
            return;
        };
        if !self.touch(session, timeout_ms) {
            return;
        }
        let Some(operation) = operation else {
            self.send_to_client(connection, reply::refusal(cxid, -1, Refusal::Unimplemented));
            return self.hang_up(connection);
        };
        let (what, kind) = sort(operation, body);
        self.submit_or_read(session, Waiting { connection, cxid, what }, kind);
    }

    /// Records that the session is alive. Returns `false` if the leader does not know the session
    /// or is closing it, or while there is no leader. A follower always returns `true`.
    fn touch(&mut self, session: i64, timeout_ms: i32) -> bool {
        let now_ms = self.now_ms();
        match &mut self.role {
            Role::Leading(leader) => leader.touch(session, timeout_ms, now_ms),
            Role::Following(follower) => {
                follower.touch(session, timeout_ms);
                true
            }
            Role::Looking => false,
        }
    }
}

fn sort(operation: Operation, body: Bytes) -> (RequestClass, Option<Kind>) {
    match operation {
        Operation::Create
        | Operation::Create2
        | Operation::CreateContainer
        | Operation::CreateTtl
        | Operation::Delete
        | Operation::DeleteContainer
        | Operation::SetData
        | Operation::Check
        | Operation::Multi
        | Operation::Reconfig => (RequestClass::Change, Some(Kind::Client(operation, body))),
        Operation::CloseSession => (RequestClass::CloseSession, Some(Kind::CloseSession)),
        Operation::Sync => (RequestClass::Sync(body), None),
        _ => (RequestClass::Read(operation, body), None),
    }
}
