use crate::protocol::*;

#[derive(Clone, Debug, Default)]
pub(crate) struct Bases {
    pub(crate) zxid: i64,
    pub(crate) sessions: Vec<i64>,
}

impl Bases {
    fn zxid(&self, zxid: i64) -> String {
        if zxid <= 0 { zxid.to_string() } else { format!("+{}", zxid - self.zxid) }
    }

    fn owner(&self, owner: i64) -> String {
        match self.sessions.iter().position(|session| *session == owner) {
            Some(place) => format!("session {place}"),
            None => owner.to_string(),
        }
    }

    fn stat(&self, reader: &mut Reader<'_>) -> String {
        let (czxid, mzxid) = (self.zxid(reader.long()), self.zxid(reader.long()));
        let is_unchanged = reader.long() == reader.long();
        let (version, cversion, aversion) = (reader.int(), reader.int(), reader.int());
        let owner = self.owner(reader.long());
        let (length, children) = (reader.int(), reader.int());
        let pzxid = self.zxid(reader.long());
        // Leave out this flag, because it depends on the timing.
        let _ = is_unchanged;
        format!(
            "[c{czxid} m{mzxid} p{pzxid} v{version} cv{cversion} av{aversion} {owner} {length} \
             {children}]"
        )
    }

    pub(crate) fn reply(&self, frame: &[u8], operation: i32) -> String {
        let reader = &mut Reader(frame);
        let (xid, zxid, code) = (reader.int(), reader.long(), reader.int());
        if xid == -1 {
            let (kind, state) = (reader.int(), reader.int());
            return format!("event {kind} {state} {} zxid {zxid}", reader.text());
        }
        let head = format!("{xid} at {} code {code}:", self.zxid(zxid));
        if code != 0 || reader.0.is_empty() {
            assert!(reader.0.is_empty(), "{head} {:?}", reader.0);
            return head;
        }
        let body = self.body(reader, operation);
        assert!(reader.0.is_empty(), "{head} {body} {:?}", reader.0);
        format!("{head} {body}")
    }

    fn body(&self, reader: &mut Reader<'_>, operation: i32) -> String {
        match operation {
            CREATE | SYNC => reader.text(),
            CREATE2 | CREATE_CONTAINER | CREATE_TTL => {
                format!("{} {}", reader.text(), self.stat(reader))
            }
            EXISTS | SET_DATA | CHECK => self.stat(reader),
            GET_DATA => format!("{:?} {}", reader.bytes(), self.stat(reader)),
            GET_CHILDREN => names(reader),
            GET_CHILDREN2 => format!("{} {}", names(reader), self.stat(reader)),
            MULTI => self.multi(reader),
            _ => format!("{:?}", std::mem::take(&mut reader.0)),
        }
    }

    fn multi(&self, reader: &mut Reader<'_>) -> String {
        let mut parts = Vec::new();
        loop {
            let (kind, is_last, code) = (reader.int(), reader.bool(), reader.int());
            if is_last {
                return parts.join("; ");
            }
            let body = match kind {
                -1 => reader.int().to_string(),
                DELETE | CHECK => String::new(),
                kind => self.body(reader, kind),
            };
            parts.push(format!("{kind} {code} {body}"));
        }
    }
}

fn names(reader: &mut Reader<'_>) -> String {
    let mut names: Vec<String> = (0..reader.int()).map(|_| reader.text()).collect();
    names.sort();
    format!("{names:?}")
}
