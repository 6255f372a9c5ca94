use crate::fake::Fake;
use crate::protocol::*;
use crate::real::{self, Real, RealConnection};
use crate::shown::Bases;
use fencepost_machine::ConnectionId;
use fencepost_testing::differential::differential;
use proptest::prelude::*;
use std::cell::Cell;

const CASES: u32 = 400;
const SHRINK_MAX: u32 = 2_000;
const TIMEOUT_MS: i32 = 30_000;
const PING_XID: i32 = -2;

#[derive(Clone, Debug)]
enum Ask {
    Create { operation: i32, path: String, flags: i32, data: Option<Vec<u8>> },
    Delete(String, i32),
    SetData(String, Option<Vec<u8>>, i32),
    Check(String, i32),
    Look(i32, String, bool),
    Sync(String),
    Multi(Vec<Ask>),
    SetWatches(i64, Vec<Vec<String>>),
    Watches(i32, String, i32),
    Ping,
    CloseAndReturn,
    Reattach,
}

#[derive(Clone, Debug)]
struct Step {
    client: usize,
    is_awaited: bool,
    ask: Ask,
}

const COMMON: &[&str] =
    &["", "/a", "/b", "/a/x", "/a/y", "/b/x", "/a/x/z", "/lock-", "/a/lock-", "/c"];
const ODD: &[&str] = &["/", "//", "/a/", "/./a", "/a/../b", "/a\0", "/\u{7f}", "/ä"];

fn path() -> impl Strategy<Value = String> {
    prop_oneof![12 => prop::sample::select(COMMON), 1 => prop::sample::select(ODD)]
        .prop_map(str::to_owned)
}

fn data() -> impl Strategy<Value = Option<Vec<u8>>> {
    prop_oneof![Just(None), Just(Some(Vec::new())), Just(Some(b"some data".to_vec()))]
}

fn version() -> impl Strategy<Value = i32> {
    prop_oneof![4 => Just(-1), 3 => 0..3, 1 => Just(-2)]
}

fn create() -> impl Strategy<Value = Ask> {
    let kinds = [(CREATE, 0), (CREATE, 1), (CREATE, 2), (CREATE, 3), (CREATE2, 0), (CREATE2, 3)];
    let kinds = prop_oneof![
        10 => prop::sample::select(kinds.to_vec()),
        2 => Just((CREATE_CONTAINER, 4)),
        1 => Just((CREATE, 9)),
        1 => Just((CREATE2, 4)),
    ];
    (kinds, path(), data()).prop_map(|((operation, flags), path, data)| Ask::Create {
        operation,
        path,
        flags,
        data,
    })
}

fn change() -> impl Strategy<Value = Ask> {
    prop_oneof![
        5 => create(),
        4 => (path(), version()).prop_map(|(path, version)| Ask::Delete(path, version)),
        2 => (path(), data(), version()).prop_map(|(path, data, version)| {
            Ask::SetData(path, data, version)
        }),
        1 => (path(), version()).prop_map(|(path, version)| Ask::Check(path, version)),
    ]
}

fn ask() -> impl Strategy<Value = Ask> {
    let looks = prop::sample::select(vec![EXISTS, GET_DATA, GET_CHILDREN, GET_CHILDREN2]);
    let paths = || prop::collection::vec(path(), 0..3);
    prop_oneof![
        // Leave out checks outside a multi, because neither server replies if they succeed.
        14 => change().prop_filter("is answered", |ask| !matches!(ask, Ask::Check(..))),
        10 => (looks, path(), any::<bool>()).prop_map(|(operation, path, is_watched)| {
            Ask::Look(operation, path, is_watched)
        }),
        2 => path().prop_map(Ask::Sync),
        4 => prop::collection::vec(change(), 0..5).prop_map(Ask::Multi),
        1 => (0..9_i64, prop::collection::vec(paths(), 3..4))
            .prop_map(|(back, lists)| Ask::SetWatches(back, lists)),
        1 => (prop_oneof![Just(CHECK_WATCHES), Just(REMOVE_WATCHES)], path(), 0..5)
            .prop_map(|(operation, path, kind)| Ask::Watches(operation, path, kind)),
        1 => Just(Ask::Ping),
        1 => Just(Ask::CloseAndReturn),
        1 => Just(Ask::Reattach),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..2_usize, prop::bool::weighted(0.7), ask());
    let step = step.prop_map(|(client, is_awaited, ask)| Step { client, is_awaited, ask });
    prop::collection::vec(step, 1..60)
}

fn record(ask: &Ask, root: &str, zxid: i64) -> (i32, Record) {
    let at = |path: &String| format!("{root}{path}");
    let new = Record::default;
    match ask {
        Ask::Create { operation, path, flags, data } => {
            let record = new().text(&at(path)).bytes(data.as_deref()).world(31).int(*flags);
            (*operation, record)
        }
        Ask::Delete(path, version) => (DELETE, new().text(&at(path)).int(*version)),
        Ask::SetData(path, data, version) => {
            (SET_DATA, new().text(&at(path)).bytes(data.as_deref()).int(*version))
        }
        Ask::Check(path, version) => (CHECK, new().text(&at(path)).int(*version)),
        Ask::Look(operation, path, is_watched) => {
            (*operation, new().text(&at(path)).bool(*is_watched))
        }
        Ask::Sync(path) => (SYNC, new().text(&at(path))),
        Ask::Multi(parts) => (MULTI, multi(parts.iter().map(|part| record(part, root, zxid)))),
        Ask::SetWatches(back, lists) => {
            let record = lists.iter().fold(new().long(zxid - back), |record, paths| {
                record.texts(&paths.iter().map(at).collect::<Vec<_>>())
            });
            (SET_WATCHES, record)
        }
        Ask::Watches(operation, path, kind) => (*operation, new().text(&at(path)).int(*kind)),
        Ask::Ping => (PING, new()),
        Ask::CloseAndReturn | Ask::Reattach => (CLOSE, new()),
    }
}

fn multi(parts: impl Iterator<Item = (i32, Record)>) -> Record {
    let record = parts.fold(Record::default(), |record, (operation, part)| {
        let mut record = record.int(operation).bool(false).int(-1);
        record.0.extend(part.0);
        record
    });
    record.int(-1).bool(true).int(-1)
}

trait Server {
    type Connection: Clone;
    fn connect(&mut self) -> Self::Connection;
    fn send(&mut self, connection: &Self::Connection, bytes: &[u8]);
    fn frame(&mut self, connection: &Self::Connection) -> Option<Vec<u8>>;
}

impl Server for Fake {
    type Connection = ConnectionId;

    fn connect(&mut self) -> ConnectionId {
        Fake::connect(self)
    }

    fn send(&mut self, connection: &ConnectionId, bytes: &[u8]) {
        Fake::send(self, *connection, bytes);
    }

    fn frame(&mut self, connection: &ConnectionId) -> Option<Vec<u8>> {
        Fake::frame(self, *connection)
    }
}

struct Reality<'a> {
    real: &'a Real,
    connections: Vec<RealConnection>,
}

impl Server for Reality<'_> {
    type Connection = usize;

    fn connect(&mut self) -> usize {
        self.connections.push(self.real.connect());
        self.connections.len() - 1
    }

    fn send(&mut self, connection: &usize, bytes: &[u8]) {
        self.connections[*connection].send(bytes);
    }

    fn frame(&mut self, connection: &usize) -> Option<Vec<u8>> {
        self.connections[*connection].frame()
    }
}

struct Client<C> {
    connection: C,
    session: Session,
    xid: i32,
    open: Vec<(i32, i32)>,
}

struct Play<'a, S: Server> {
    server: &'a mut S,
    root: &'a str,
    bases: Bases,
    clients: Vec<Client<S::Connection>>,
    said: Vec<String>,
    /// Index of the first unordered event: closed sessions delete nodes in hash-table order.
    unordered_from: Option<usize>,
}

impl<'a, S: Server> Play<'a, S> {
    fn begin(server: &'a mut S, root: &'a str) -> Play<'a, S> {
        let (bases, clients, said) = (Bases::default(), Vec::new(), Vec::new());
        let mut play = Play { server, root, bases, clients, said, unordered_from: None };
        for _ in 0..2 {
            let client = play.enter();
            play.clients.push(client);
        }
        // Each sequence has its own parent, because a parent's counters count all its child nodes.
        let (parent, _) = root.rsplit_once('/').unwrap();
        for (xid, path) in [(0, parent), (1, root)] {
            let record = Record::default().text(path).bytes(None).world(31).int(0);
            play.server.send(&play.clients[0].connection, &request(xid, CREATE, record));
            let frame = play.server.frame(&play.clients[0].connection).unwrap();
            assert_eq!(&frame[12..16], [0; 4], "the sequence has a node of its own");
            play.bases.zxid = i64::from_be_bytes(frame[4..12].try_into().unwrap());
        }
        play
    }

    fn enter(&mut self) -> Client<S::Connection> {
        let connection = self.server.connect();
        self.server.send(&connection, &connect(0, &[0; 16], TIMEOUT_MS, 0));
        let session = Session::read(&self.server.frame(&connection).unwrap());
        self.bases.sessions.push(session.id);
        Client { connection, session, xid: 1, open: Vec::new() }
    }

    fn step(&mut self, step: &Step) {
        let who = step.client;
        // Wait for the other client, because otherwise the order of their requests is undefined.
        self.await_all(1 - who);
        match step.ask {
            Ask::CloseAndReturn => {
                self.await_all(who);
                self.close(who);
                self.clients[who] = self.enter();
                return;
            }
            Ask::Reattach => {
                self.await_all(who);
                let Session { id, password, .. } = self.clients[who].session.clone();
                let connection = self.server.connect();
                self.server.send(&connection, &connect(id, &password, TIMEOUT_MS, 0));
                let session = Session::read(&self.server.frame(&connection).unwrap());
                self.said.push(format!("{who} is back: {}", session.timeout_ms));
                self.clients[who].connection = connection;
                return;
            }
            _ => {}
        }
        let (operation, record) = record(&step.ask, self.root, self.bases.zxid + 20);
        let client = &mut self.clients[who];
        client.xid += 1;
        let xid = if operation == PING { PING_XID } else { client.xid };
        client.open.push((xid, operation));
        self.server.send(&client.connection, &request(xid, operation, record));
        if step.is_awaited {
            self.await_all(who);
        }
    }

    fn await_all(&mut self, who: usize) {
        while let Some((xid, operation)) = self.clients[who].open.first().copied() {
            let Some(frame) = self.server.frame(&self.clients[who].connection) else {
                self.said.push(format!("{who} is cut off"));
                self.clients[who].open.clear();
                return;
            };
            if frame[..4] == xid.to_be_bytes() {
                self.clients[who].open.remove(0);
            }
            self.said.push(format!("{who}: {}", self.bases.reply(&frame, operation)));
        }
    }

    fn close(&mut self, who: usize) {
        self.unordered_from.get_or_insert(self.said.len());
        self.clients[who].open.push((0, CLOSE));
        let bytes = request(0, CLOSE, Record::default());
        self.server.send(&self.clients[who].connection, &bytes);
        self.await_all(who);
        let is_closed = self.server.frame(&self.clients[who].connection).is_none();
        self.said.push(format!("{who} is gone: {is_closed}"));
    }

    /// Ends the sequence with pings, so that events in transit arrive, and closes the sessions.
    fn end(mut self) -> Vec<String> {
        for who in 0..2 {
            self.await_all(who);
        }
        for who in 0..2 {
            let ask = Ask::Ping;
            self.step(&Step { client: who, is_awaited: true, ask });
        }
        for who in 0..2 {
            self.close(who);
        }
        let unordered = self.unordered_from.unwrap_or(self.said.len());
        let is_event = |line: &String| line.contains(": event ");
        let both = |a: &String, b: &String| is_event(a) && is_event(b);
        self.said[unordered..].chunk_by_mut(both).for_each(<[String]>::sort);
        self.said
    }
}

fn play<S: Server>(server: &mut S, root: &str, steps: &[Step]) -> Vec<String> {
    let mut play = Play::begin(server, root);
    steps.iter().for_each(|step| play.step(step));
    play.end()
}

#[test]
fn replies_and_events_are_those_of_a_real_server() {
    if !real::is_there() {
        return;
    }
    let (real, played) = (Real::alone(2_000), Cell::new(0));
    differential(CASES, SHRINK_MAX, &steps(), |steps| {
        played.set(played.get() + 1);
        let root = format!("/sequence-{}/root", played.get());
        let mut reality = Reality { real: &real, connections: Vec::new() };
        let expected = play(&mut reality, &root, &steps);
        let ours = play(&mut Fake::alone(2_000), &root, &steps);
        prop_assert_eq!(expected, ours);
        Ok(())
    });
}
