//! Turns requests into transactions, checked against the state after all earlier proposals.

use crate::code::{Operation, Refusal};
use crate::jute::{Malformed, Reader};
use crate::outstanding_changes::{OutstandingChanges, Record};
use crate::path;
use crate::stat::{CONTAINER_OWNER, StoredStat};
use crate::transaction::{Change, Creation};
use crate::tree::Tree;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

impl From<Malformed> for Refusal {
    fn from(_: Malformed) -> Refusal {
        Refusal::Marshalling
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) session: i64,
    pub(crate) cxid: i32,
    pub(crate) kind: Kind,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Kind {
    Client(Operation, Bytes),
    OpenSession { timeout_ms: i32 },
    CloseSession,
    DeleteContainer(String),
}

pub(crate) struct Preparation<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) outstanding_changes: &'a mut OutstandingChanges,
    pub(crate) zxid: i64,
    pub(crate) time_ms: i64,
    pub(crate) session: i64,
}

struct Wanted {
    path: String,
    data: Option<Bytes>,
    is_open: bool,
    flags: i32,
    is_told_stat: bool,
    is_container: bool,
}

enum Part {
    Create(Wanted),
    Delete(String, i32),
    SetData(String, Option<Bytes>, i32),
    Check(String, i32),
    Unimplemented,
}

impl Preparation<'_> {
    pub(crate) fn operation(
        &mut self,
        operation: Operation,
        body: &[u8],
    ) -> Result<Change, Refusal> {
        let mut reader = Reader::new(body);
        match operation {
            Operation::Multi => self.multi(&mut reader),
            Operation::Reconfig => Err(Refusal::ReconfigDisabled),
            // The real server reads the path from the frame's header, which is never a valid path.
            Operation::DeleteContainer => Err(Refusal::BadArguments),
            _ => {
                let part = read_part(operation, &mut reader)?;
                self.part(part)
            }
        }
    }

    fn part(&mut self, part: Part) -> Result<Change, Refusal> {
        match part {
            Part::Create(wanted) => self.create(wanted),
            Part::Delete(path, version) => self.delete(path, version),
            Part::SetData(path, data, version) => self.set_data(path, data, version),
            Part::Check(path, version) => self.check(&path, version),
            Part::Unimplemented => Err(Refusal::Unimplemented),
        }
    }

    fn record(&self, path: &str) -> Result<Record, Refusal> {
        self.outstanding_changes.get(self.tree, path)
    }

    fn create(&mut self, wanted: Wanted) -> Result<Change, Refusal> {
        let Wanted { mut path, data, is_open, flags, is_told_stat, is_container } = wanted;
        let (is_ephemeral, is_sequential) = match flags {
            0 | 4 => (false, false),
            1 => (true, false),
            2 => (false, true),
            3 => (true, true),
            5 | 6 => return Err(Refusal::Unimplemented),
            _ => return Err(Refusal::BadArguments),
        };
        let parent_path = path::split(&path)?.0.to_owned();
        if !is_open {
            return Err(Refusal::InvalidAcl);
        }
        let mut parent = self.record(&parent_path)?;
        writable(&parent_path)?;
        if is_sequential {
            path = format!("{path}{:010}", parent.kept.created);
        }
        path::validate(&path)?;
        if self.record(&path).is_ok() {
            return Err(Refusal::NodeExists);
        }
        if parent.kept.is_ephemeral() {
            return Err(Refusal::NoChildrenForEphemerals);
        }
        let owner = match flags {
            4 => CONTAINER_OWNER,
            _ if is_ephemeral => self.session,
            _ => 0,
        };
        // As in the real server, the operation, not the flags, decides if the log has a container.
        let logged_owner = match owner {
            CONTAINER_OWNER if !is_container => 0,
            _ if is_container => CONTAINER_OWNER,
            owner => owner,
        };
        let kept = StoredStat::new(self.zxid, self.time_ms, owner);
        parent.children += 1;
        parent.kept.created = parent.kept.created.wrapping_add(1);
        parent.kept.pzxid = self.zxid;
        let parent_created = parent.kept.created;
        self.outstanding_changes.put(self.zxid, &parent_path, Some(parent));
        let record = Record { kept, children: 0 };
        self.outstanding_changes.put(self.zxid, &path, Some(record));
        let owner = logged_owner;
        Ok(Change::Create(Creation { path, data, owner, parent_created, is_told_stat }))
    }

    fn delete(&mut self, path: String, version: i32) -> Result<Change, Refusal> {
        let parent = path::split_deletable(&path)?.0.to_owned();
        let record = self.record(&parent)?;
        writable(&parent)?;
        let node = self.record(&path)?;
        next_version(node.kept.version, version)?;
        if node.children > 0 {
            return Err(Refusal::NotEmpty);
        }
        self.remove(&path, &parent, record);
        Ok(Change::Delete { path })
    }

    fn remove(&mut self, path: &str, parent: &str, mut record: Record) {
        record.children = record.children.saturating_sub(1);
        record.kept.pzxid = self.zxid;
        self.outstanding_changes.put(self.zxid, parent, Some(record));
        self.outstanding_changes.put(self.zxid, path, None);
    }

    pub(crate) fn delete_container(&mut self, path: &str) -> Result<Change, Refusal> {
        let parent = path::split_deletable(path)?.0.to_owned();
        let node = self.record(path)?;
        if node.children > 0 {
            return Err(Refusal::NotEmpty);
        }
        let record = self.record(&parent)?;
        self.remove(path, &parent, record);
        Ok(Change::Delete { path: path.to_owned() })
    }

    fn set_data(
        &mut self,
        path: String,
        data: Option<Bytes>,
        version: i32,
    ) -> Result<Change, Refusal> {
        path::validate(&path)?;
        let mut record = self.record(&path)?;
        writable(&path)?;
        let version = next_version(record.kept.version, version)?;
        (record.kept.version, record.kept.mzxid) = (version, self.zxid);
        self.outstanding_changes.put(self.zxid, &path, Some(record));
        Ok(Change::SetData { path, data, version })
    }

    fn check(&mut self, path: &str, version: i32) -> Result<Change, Refusal> {
        path::validate(path)?;
        let record = self.record(path)?;
        next_version(record.kept.version, version)?;
        Ok(Change::Check)
    }

    /// Runs the parts of a multi. If one is refused, undoes the earlier and skips the later parts.
    fn multi(&mut self, reader: &mut Reader<'_>) -> Result<Change, Refusal> {
        let parts = read_multi(reader)?;
        let before = self.outstanding_changes.clone();
        let (count, mut changes) = (parts.len(), Vec::with_capacity(parts.len()));
        for (place, part) in parts.into_iter().enumerate() {
            match self.part(part) {
                Ok(change) => changes.push(change),
                Err(refusal) => {
                    *self.outstanding_changes = before;
                    let mut told = vec![Change::Refused(0); place];
                    told.push(Change::Refused(refusal.number()));
                    told.resize(count, Change::Refused(Refusal::RuntimeInconsistency.number()));
                    return Ok(Change::Multi(told));
                }
            }
        }
        Ok(Change::Multi(changes))
    }

    /// Deletes the session's nodes. The child counts of their parents change only on commit.
    pub(crate) fn close_session(&mut self) -> Change {
        let paths = self.outstanding_changes.ephemerals(self.tree, self.session);
        for path in &paths {
            self.outstanding_changes.put(self.zxid, path, None);
        }
        Change::CloseSession { paths: paths.into_iter().collect() }
    }
}

fn next_version(current: i32, expected: i32) -> Result<i32, Refusal> {
    let is_expected = expected == -1 || expected == current;
    if is_expected { Ok(current.wrapping_add(1)) } else { Err(Refusal::BadVersion) }
}

/// Refuses to write to `/zookeeper/config`, the only node that is not open to everyone.
fn writable(path: &str) -> Result<(), Refusal> {
    if path == "/zookeeper/config" { Err(Refusal::NoAuth) } else { Ok(()) }
}

/// Reads an access control list. Returns `true` if the list grants everything to everyone.
fn read_acl(reader: &mut Reader<'_>) -> Result<bool, Refusal> {
    let entry = |reader: &mut Reader<'_>| {
        let (permissions, scheme, id) = (reader.int()?, reader.string()?, reader.string()?);
        Ok(permissions == 31
            && scheme.as_deref() == Some("world")
            && id.as_deref() == Some("anyone"))
    };
    let entries = reader.list(entry)?.unwrap_or_default();
    Ok(!entries.is_empty() && entries.iter().all(|is_open| *is_open))
}

fn read_multi(reader: &mut Reader<'_>) -> Result<Vec<Part>, Refusal> {
    let mut parts = Vec::new();
    loop {
        let (kind, is_last) = (reader.int()?, reader.bool()?);
        reader.int()?;
        if is_last {
            return Ok(parts);
        }
        let operation = Operation::from_repr(kind).ok_or(Refusal::Marshalling)?;
        let part = match read_part(operation, reader)? {
            // Within a multi, the flags determine the type of the node.
            Part::Create(wanted) => {
                let is_container = wanted.flags == 4;
                Part::Create(Wanted { is_container, is_told_stat: is_container, ..wanted })
            }
            part => part,
        };
        parts.push(part);
    }
}

fn read_part(operation: Operation, reader: &mut Reader<'_>) -> Result<Part, Refusal> {
    let data =
        |reader: &mut Reader<'_>| reader.buffer().map(|data| data.map(Bytes::copy_from_slice));
    Ok(match operation {
        Operation::Create | Operation::Create2 | Operation::CreateContainer => {
            Part::Create(Wanted {
                path: reader.text()?,
                data: data(reader)?,
                is_open: read_acl(reader)?,
                flags: reader.int()?,
                is_told_stat: operation != Operation::Create,
                is_container: operation == Operation::CreateContainer,
            })
        }
        Operation::CreateTtl => {
            reader.text()?;
            data(reader)?;
            read_acl(reader)?;
            reader.int()?;
            reader.long()?;
            Part::Unimplemented
        }
        Operation::Delete => Part::Delete(reader.text()?, reader.int()?),
        Operation::SetData => Part::SetData(reader.text()?, data(reader)?, reader.int()?),
        Operation::Check => Part::Check(reader.text()?, reader.int()?),
        _ => return Err(Refusal::Marshalling),
    })
}
