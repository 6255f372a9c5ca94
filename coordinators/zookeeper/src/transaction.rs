//! Transactions ([`Transaction`]), which an ensemble agrees on and logs in the order of zxids.

use crate::acl::Acl;
use crate::jute::{Malformed, Read, Reader, Writer};
use bytes::Bytes;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Transaction {
    /// Zxid: the leader's epoch in the upper half, a counter in the lower half.
    pub(crate) zxid: i64,
    pub(crate) session: i64,
    pub(crate) cxid: i32,
    pub(crate) time_ms: i64,
    pub(crate) change: Change,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    Create(Creation),
    Delete { path: String },
    SetData { path: String, data: Option<Bytes>, version: i32 },
    Check,
    Multi(Vec<Change>),
    Refused(i32),
    OpenSession { timeout_ms: i32 },
    CloseSession { paths: Vec<String> },
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Creation {
    pub(crate) path: String,
    pub(crate) data: Option<Bytes>,
    pub(crate) acl: Vec<Acl>,
    pub(crate) owner: i64,
    pub(crate) parent_created: i32,
    pub(crate) is_told_stat: bool,
}

impl Transaction {
    pub(crate) fn write(&self, writer: &mut Writer) {
        writer.long(self.zxid).long(self.session).int(self.cxid).long(self.time_ms);
        self.change.write(writer);
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Read<Transaction> {
        Ok(Transaction {
            zxid: reader.long()?,
            session: reader.long()?,
            cxid: reader.int()?,
            time_ms: reader.long()?,
            change: Change::read(reader, Depth::Outer)?,
        })
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Outer,
    WithinMulti,
}

impl Change {
    fn write(&self, writer: &mut Writer) {
        match self {
            Change::Create(creation) => creation.write(writer.byte(1)),
            Change::Delete { path } => {
                writer.byte(2).string(path);
            }
            Change::SetData { path, data, version } => {
                writer.byte(3).string(path).buffer(data.as_deref()).int(*version);
            }
            Change::Check => {
                writer.byte(5);
            }
            Change::Multi(changes) => {
                writer.byte(6).list(changes.iter(), |writer, change| change.write(writer));
            }
            Change::Refused(code) => {
                writer.byte(7).int(*code);
            }
            Change::OpenSession { timeout_ms } => {
                writer.byte(8).int(*timeout_ms);
            }
            Change::CloseSession { paths } => {
                writer.byte(9).list(paths.iter(), |writer, path| {
                    writer.string(path);
                });
            }
        }
    }

    fn read(reader: &mut Reader<'_>, depth: Depth) -> Read<Change> {
        Ok(match reader.byte()? {
            1 => Change::Create(Creation::read(reader)?),
            2 => Change::Delete { path: reader.text()? },
            3 => Change::SetData {
                path: reader.text()?,
                data: reader.buffer()?.map(Bytes::copy_from_slice),
                version: reader.int()?,
            },
            5 => Change::Check,
            6 if depth == Depth::Outer => {
                let changes = reader.list(|reader| Change::read(reader, Depth::WithinMulti))?;
                Change::Multi(changes.ok_or(Malformed)?)
            }
            7 => Change::Refused(reader.int()?),
            8 => Change::OpenSession { timeout_ms: reader.int()? },
            9 => Change::CloseSession { paths: reader.list(Reader::text)?.ok_or(Malformed)? },
            _ => return Err(Malformed),
        })
    }
}

impl Creation {
    fn write(&self, writer: &mut Writer) {
        writer.string(&self.path).buffer(self.data.as_deref());
        write_acl(&self.acl, writer);
        writer.long(self.owner).int(self.parent_created).bool(self.is_told_stat);
    }

    fn read(reader: &mut Reader<'_>) -> Read<Creation> {
        Ok(Creation {
            path: reader.text()?,
            data: reader.buffer()?.map(Bytes::copy_from_slice),
            acl: read_acl(reader)?,
            owner: reader.long()?,
            parent_created: reader.int()?,
            is_told_stat: reader.bool()?,
        })
    }
}

pub(crate) fn write_acl(acl: &[Acl], writer: &mut Writer) {
    writer.list(acl.iter(), |writer, entry| entry.write(writer));
}

pub(crate) fn read_acl(reader: &mut Reader<'_>) -> Read<Vec<Acl>> {
    let entries = reader.list(|reader| Acl::read(reader)?.ok_or(Malformed))?;
    entries.ok_or(Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn creation() -> Creation {
        Creation {
            path: "/a".to_owned(),
            data: Some(Bytes::from_static(b"x")),
            acl: vec![Acl::world(31)],
            owner: 7,
            parent_created: 3,
            is_told_stat: true,
        }
    }

    #[test]
    fn a_transaction_reads_as_it_was_written() {
        let path = || "/a".to_owned();
        let changes = vec![
            Change::Create(creation()),
            Change::Delete { path: path() },
            Change::SetData { path: path(), data: None, version: 4 },
            Change::Check,
            Change::Refused(-101),
            Change::OpenSession { timeout_ms: 4_000 },
            Change::CloseSession { paths: vec![path()] },
        ];
        let many = Change::Multi(changes.clone());
        for change in changes.into_iter().chain([many]) {
            let written = Transaction { zxid: 1 << 33, session: 5, cxid: 2, time_ms: 9, change };
            let mut writer = Writer::default();
            written.write(&mut writer);
            let bytes = writer.into_bytes();
            assert_eq!(Transaction::read(&mut Reader::new(&bytes)), Ok(written));
            for end in 0..bytes.len() {
                assert_eq!(Transaction::read(&mut Reader::new(&bytes[..end])), Err(Malformed));
            }
        }
    }

    #[test]
    fn a_multi_within_a_multi_is_malformed() {
        let inner = Change::Multi(vec![Change::Check]);
        let change = Change::Multi(vec![inner]);
        let mut writer = Writer::default();
        Transaction { zxid: 1, session: 0, cxid: 0, time_ms: 0, change }.write(&mut writer);
        let bytes = writer.into_bytes();
        assert_eq!(Transaction::read(&mut Reader::new(&bytes)), Err(Malformed));
    }
}
