use crate::ensemble::Ensemble;
use crate::protocol::*;

pub(crate) struct Client<E: Ensemble> {
    pub(crate) connection: E::Connection,
    pub(crate) session: Session,
    xid: i32,
    seen: i64,
}

impl<E: Ensemble> Client<E> {
    pub(crate) fn seen(&self) -> i64 {
        self.seen
    }

    pub(crate) fn enter(ensemble: &mut E, at: usize, timeout_ms: i32) -> Client<E> {
        let session = Session { timeout_ms, id: 0, password: vec![0; 16] };
        let mut connection = ensemble.connect(at);
        let asked = connect(0, &session.password, timeout_ms, 0);
        ensemble.send(&mut connection, &asked);
        let frame = ensemble.frame(&mut connection).expect("a session");
        Client { connection, session: Session::read(&frame), xid: 0, seen: 0 }
    }

    /// Returns a client of the same session with other xids. If two requests have the same xid, a
    /// server may confuse their commits (`CommitProcessor`).
    pub(crate) fn twin(&self, connection: E::Connection) -> Client<E> {
        let xid = self.xid + 1_000;
        Client { connection, session: self.session.clone(), xid, seen: self.seen }
    }

    pub(crate) fn reconnect(&mut self, ensemble: &mut E, at: usize, password: &[u8]) -> String {
        for _ in 0..600 {
            self.connection = ensemble.connect(at);
            let Session { timeout_ms, id, .. } = self.session;
            let asked = connect(id, password, timeout_ms, self.seen);
            ensemble.send(&mut self.connection, &asked);
            if let Some(frame) = ensemble.frame(&mut self.connection) {
                let told = Session::read(&frame);
                let is_same = told.id == id;
                return format!("the same session: {is_same}, timeout {}", told.timeout_ms);
            }
            ensemble.pass(100);
        }
        panic!("server {at} does not serve for a minute");
    }

    pub(crate) fn send(&mut self, ensemble: &mut E, operation: i32, record: Record) -> i32 {
        self.xid += 1;
        let bytes = request(self.xid, operation, record);
        ensemble.send(&mut self.connection, &bytes);
        self.xid
    }

    pub(crate) fn read_reply(&mut self, ensemble: &mut E, operation: i32) -> String {
        let Some(frame) = ensemble.frame(&mut self.connection) else {
            return "cut off".to_owned();
        };
        let reader = &mut Reader(&frame);
        let (xid, zxid, code) = (reader.int(), reader.long(), reader.int());
        if xid == -1 {
            return format!("event {} {} {}", reader.int(), reader.int(), reader.text());
        }
        assert_eq!(xid, self.xid, "the reply to the latest request");
        self.seen = self.seen.max(zxid);
        let body = match operation {
            _ if code != 0 => String::new(),
            CREATE | SYNC => reader.text(),
            GET_DATA => String::from_utf8_lossy(reader.bytes().unwrap_or_default()).into_owned(),
            _ => String::new(),
        };
        format!("{code} {body}").trim_end().to_owned()
    }

    pub(crate) fn ask(&mut self, ensemble: &mut E, operation: i32, record: Record) -> String {
        self.send(ensemble, operation, record);
        self.read_reply(ensemble, operation)
    }

    pub(crate) fn create(&mut self, ensemble: &mut E, path: &str, is_ephemeral: bool) -> String {
        let record = Record::default().text(path).bytes(Some(b"old")).world(31);
        self.ask(ensemble, CREATE, record.int(i32::from(is_ephemeral)))
    }

    pub(crate) fn set(&mut self, ensemble: &mut E, path: &str, data: &str) -> String {
        let record = Record::default().text(path).bytes(Some(data.as_bytes())).int(-1);
        self.ask(ensemble, SET_DATA, record)
    }

    pub(crate) fn get(&mut self, ensemble: &mut E, path: &str, is_watched: bool) -> String {
        self.ask(ensemble, GET_DATA, Record::default().text(path).bool(is_watched))
    }

    pub(crate) fn sync(&mut self, ensemble: &mut E) -> String {
        self.ask(ensemble, SYNC, Record::default().text("/"))
    }
}
