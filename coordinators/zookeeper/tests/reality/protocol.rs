#[derive(Clone, Debug, Default)]
pub(crate) struct Record(pub(crate) Vec<u8>);

impl Record {
    pub(crate) fn int(mut self, value: i32) -> Record {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(crate) fn long(mut self, value: i64) -> Record {
        self.0.extend(value.to_be_bytes());
        self
    }

    pub(crate) fn bool(mut self, value: bool) -> Record {
        self.0.push(u8::from(value));
        self
    }

    pub(crate) fn text(self, value: &str) -> Record {
        self.bytes(Some(value.as_bytes()))
    }

    pub(crate) fn bytes(self, value: Option<&[u8]>) -> Record {
        let Some(value) = value else { return self.int(-1) };
        let mut record = self.int(value.len() as i32);
        record.0.extend(value);
        record
    }

    pub(crate) fn texts(self, values: &[String]) -> Record {
        values.iter().fold(self.int(values.len() as i32), |record, value| record.text(value))
    }

    pub(crate) fn world(self, permissions: i32) -> Record {
        self.int(1).int(permissions).text("world").text("anyone")
    }

    pub(crate) fn framed(self) -> Vec<u8> {
        let mut frame = (self.0.len() as i32).to_be_bytes().to_vec();
        frame.extend(self.0);
        frame
    }
}

pub(crate) fn request(xid: i32, operation: i32, record: Record) -> Vec<u8> {
    let mut header = Record::default().int(xid).int(operation);
    header.0.extend(record.0);
    header.framed()
}

pub(crate) fn connect(session: i64, password: &[u8], timeout_ms: i32, seen: i64) -> Vec<u8> {
    let record = Record::default().int(0).long(seen).int(timeout_ms).long(session);
    record.bytes(Some(password)).bool(false).framed()
}

pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(length);
        self.0 = rest;
        taken
    }

    pub(crate) fn int(&mut self) -> i32 {
        i32::from_be_bytes(self.take(4).try_into().unwrap())
    }

    pub(crate) fn long(&mut self) -> i64 {
        i64::from_be_bytes(self.take(8).try_into().unwrap())
    }

    pub(crate) fn bool(&mut self) -> bool {
        self.take(1)[0] != 0
    }

    pub(crate) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.int();
        (length >= 0).then(|| self.take(length as usize))
    }

    pub(crate) fn text(&mut self) -> String {
        String::from_utf8_lossy(self.bytes().unwrap_or(b"(null)")).into_owned()
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Session {
    pub(crate) timeout_ms: i32,
    pub(crate) id: i64,
    pub(crate) password: Vec<u8>,
}

impl Session {
    pub(crate) fn read(frame: &[u8]) -> Session {
        let mut reader = Reader(frame);
        reader.int();
        let (timeout_ms, id) = (reader.int(), reader.long());
        Session { timeout_ms, id, password: reader.bytes().unwrap().to_vec() }
    }
}

pub(crate) const CREATE: i32 = 1;
pub(crate) const DELETE: i32 = 2;
pub(crate) const EXISTS: i32 = 3;
pub(crate) const GET_DATA: i32 = 4;
pub(crate) const SET_DATA: i32 = 5;
pub(crate) const GET_CHILDREN: i32 = 8;
pub(crate) const SYNC: i32 = 9;
pub(crate) const PING: i32 = 11;
pub(crate) const GET_CHILDREN2: i32 = 12;
pub(crate) const CHECK: i32 = 13;
pub(crate) const MULTI: i32 = 14;
pub(crate) const CREATE2: i32 = 15;
pub(crate) const CHECK_WATCHES: i32 = 17;
pub(crate) const REMOVE_WATCHES: i32 = 18;
pub(crate) const CREATE_CONTAINER: i32 = 19;
pub(crate) const CREATE_TTL: i32 = 21;
pub(crate) const SET_WATCHES: i32 = 101;
pub(crate) const CLOSE: i32 = -11;
