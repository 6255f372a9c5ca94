use crate::jute::{Reader, Writer};
use crate::tests::world::World;
use fencepost_machine::ConnectionId;

pub(super) const CREATE: i32 = 1;
pub(super) const DELETE: i32 = 2;
pub(super) const EXISTS: i32 = 3;
pub(super) const SET_DATA: i32 = 5;
pub(super) const SYNC: i32 = 9;
pub(super) const PING: i32 = 11;

pub(super) const TIMEOUT_MS: i32 = 8_000;

#[derive(Clone, Debug)]
pub(super) struct Client {
    pub(super) at: usize,
    pub(super) connection: ConnectionId,
    pub(super) session: i64,
    password: Vec<u8>,
    xid: i32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Reply {
    pub(super) xid: i32,
    pub(super) code: i32,
    pub(super) record: Vec<u8>,
}

impl Client {
    pub(super) fn try_enter(world: &mut World, at: usize) -> Option<Client> {
        let connection = world.connect(at);
        let mut client = Client { at, connection, session: 0, password: vec![0; 16], xid: 0 };
        client.ask_for_session(world).then_some(client)
    }

    pub(super) fn enter(world: &mut World, at: usize) -> Client {
        Client::try_enter(world, at).expect("a session")
    }

    pub(super) fn reconnect(&mut self, world: &mut World, at: usize) -> bool {
        (self.at, self.connection) = (at, world.connect(at));
        self.ask_for_session(world)
    }

    fn ask_for_session(&mut self, world: &mut World) -> bool {
        let mut writer = Writer::frame();
        writer.int(0).long(0).int(TIMEOUT_MS).long(self.session);
        writer.buffer(Some(&self.password)).bool(false);
        world.send(self.at, self.connection, &writer.framed());
        let Some(frame) = world.frame(self.at, self.connection, 5_000) else { return false };
        let reader = &mut Reader::new(&frame);
        reader.int().unwrap();
        reader.int().unwrap();
        self.session = reader.long().unwrap();
        self.password = reader.buffer().unwrap().unwrap().to_vec();
        self.session != 0
    }

    pub(super) fn send(&mut self, world: &mut World, kind: i32, body: Writer) -> i32 {
        self.xid += 1;
        let mut writer = Writer::frame();
        writer.int(self.xid).int(kind).raw(&body.into_bytes());
        world.send(self.at, self.connection, &writer.framed());
        self.xid
    }

    pub(super) fn next(&self, world: &mut World, within_ms: u64) -> Option<Reply> {
        let frame = world.frame(self.at, self.connection, within_ms)?;
        let reader = &mut Reader::new(&frame);
        let (xid, _, code) = (reader.int().unwrap(), reader.long().unwrap(), reader.int().unwrap());
        Some(Reply { xid, code, record: reader.rest().to_vec() })
    }

    pub(super) fn ask(&mut self, world: &mut World, kind: i32, body: Writer) -> Option<Reply> {
        let xid = self.send(world, kind, body);
        loop {
            let reply = self.next(world, 5_000)?;
            if reply.xid == xid {
                return Some(reply);
            }
        }
    }

    pub(super) fn create(&mut self, world: &mut World, path: &str, flags: i32) -> Option<i32> {
        self.ask(world, CREATE, creation(path, flags)).map(|reply| reply.code)
    }

    pub(super) fn sees(&mut self, world: &mut World, path: &str) -> bool {
        let mut body = Writer::default();
        body.string(path).bool(false);
        self.ask(world, EXISTS, body).is_some_and(|reply| reply.code == 0)
    }

    pub(super) fn sync(&mut self, world: &mut World) -> Option<Reply> {
        let mut body = Writer::default();
        body.string("/");
        self.ask(world, SYNC, body)
    }

    pub(super) fn ping(&mut self, world: &mut World) {
        self.send(world, PING, Writer::default());
    }

    pub(super) fn live(&mut self, world: &mut World, span_ms: u64) {
        for _ in 0..span_ms / 1_000 {
            self.ping(world);
            world.run(1_000);
        }
    }
}

pub(super) fn creation(path: &str, flags: i32) -> Writer {
    let mut body = Writer::default();
    body.string(path).buffer(None).int(1).int(31).string("world").string("anyone").int(flags);
    body
}
