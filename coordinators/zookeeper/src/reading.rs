//! Read requests, which each server answers from its own tree, possibly behind the leader's.

use crate::acl::{self, Acl, Permission};
use crate::code::{Operation, Refusal, result};
use crate::jute::{Reader, Writer};
use crate::reply::write_refused;
use crate::transaction::write_acl;
use crate::tree::{Node, Tree};
use crate::watches::{Event, Mode, Notice, Of, Watches};
use fencepost_machine::ConnectionId;

pub(crate) struct Reading<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) watches: &'a mut Watches,
    pub(crate) connection: ConnectionId,
    pub(crate) session: i64,
    pub(crate) identities: &'a [String],
    pub(crate) notices: &'a mut Vec<Notice>,
}

impl Reading<'_> {
    pub(crate) fn answer(&mut self, operation: Operation, body: &[u8]) -> Result<Writer, Refusal> {
        let reader = &mut Reader::new(body);
        let mut writer = Writer::default();
        match operation {
            Operation::Exists => self.exists(reader, &mut writer)?,
            Operation::GetData => {
                let (path, is_watched) = (reader.text()?, reader.bool()?);
                self.get_data(&path, is_watched, &mut writer)?;
            }
            Operation::GetChildren | Operation::GetChildren2 => {
                let (path, is_watched) = (reader.text()?, reader.bool()?);
                let node = self.get_children(&path, is_watched, &mut writer)?;
                if operation == Operation::GetChildren2 {
                    node.stat().write(&mut writer);
                }
            }
            Operation::GetAcl => self.get_acl(reader, &mut writer)?,
            Operation::GetAllChildrenNumber => {
                let path = reader.text()?;
                let node = self.tree.get(&path).ok_or(Refusal::NoNode)?;
                self.permitted(node)?;
                writer.length(self.tree.descendants(&path));
            }
            Operation::GetEphemerals => self.get_ephemerals(reader, &mut writer)?,
            Operation::MultiRead => self.multi(reader, &mut writer)?,
            Operation::SetWatches | Operation::SetWatches2 => {
                self.set_watches(operation, reader)?;
            }
            Operation::AddWatch => self.add_watch(reader, &mut writer)?,
            Operation::CheckWatches => self.check_watches(reader)?,
            Operation::RemoveWatches => self.remove_watches(reader)?,
            Operation::WhoAmI => self.who_am_i(&mut writer),
            _ => return Err(Refusal::Unimplemented),
        }
        Ok(writer)
    }

    fn permitted(&self, node: &Node) -> Result<(), Refusal> {
        acl::check(&node.acl, Permission::Read as i32, self.identities)
    }

    fn watch(&mut self, of: Of, path: &str) {
        self.watches.add(of, path, self.connection, Mode::Once);
    }

    fn exists(&mut self, reader: &mut Reader<'_>, writer: &mut Writer) -> Result<(), Refusal> {
        let (path, is_watched) = (reader.text()?, reader.bool()?);
        if path.contains('\0') {
            return Err(Refusal::BadArguments);
        }
        if is_watched {
            self.watch(Of::Data, &path);
        }
        self.tree.get(&path).ok_or(Refusal::NoNode)?.stat().write(writer);
        Ok(())
    }

    fn get_data(
        &mut self,
        path: &str,
        is_watched: bool,
        writer: &mut Writer,
    ) -> Result<(), Refusal> {
        let node = self.tree.get(path).ok_or(Refusal::NoNode)?;
        self.permitted(node)?;
        if is_watched {
            self.watch(Of::Data, path);
        }
        node.stat().write(writer.buffer(node.data.as_deref()));
        Ok(())
    }

    fn get_children(
        &mut self,
        path: &str,
        is_watched: bool,
        writer: &mut Writer,
    ) -> Result<&Node, Refusal> {
        let node = self.tree.get(path).ok_or(Refusal::NoNode)?;
        self.permitted(node)?;
        if is_watched {
            self.watch(Of::Children, path);
        }
        writer.list(node.children.iter(), |writer, name| {
            writer.string(name);
        });
        Ok(node)
    }

    fn get_acl(&mut self, reader: &mut Reader<'_>, writer: &mut Writer) -> Result<(), Refusal> {
        let path = reader.text()?;
        let node = self.tree.get(&path).ok_or(Refusal::NoNode)?;
        let either = Permission::Read as i32 | Permission::Admin as i32;
        acl::check(&node.acl, either, self.identities)?;
        let is_admin = acl::check(&node.acl, Permission::Admin as i32, self.identities).is_ok();
        // Nodes that the server itself created are open to all.
        let mut shown = if node.acl.is_empty() { vec![Acl::world(31)] } else { node.acl.clone() };
        for entry in shown.iter_mut().filter(|entry| !is_admin && entry.scheme == "digest") {
            let name = entry.id.split(':').next().unwrap_or_default();
            entry.id = format!("{name}:x");
        }
        write_acl(&shown, writer);
        node.stat().write(writer);
        Ok(())
    }

    fn get_ephemerals(&self, reader: &mut Reader<'_>, writer: &mut Writer) -> Result<(), Refusal> {
        let prefix = reader.string()?.unwrap_or_default();
        let is_all = matches!(prefix.trim(), "" | "/");
        let owned = self.tree.ephemerals(self.session);
        let owned: Vec<_> =
            owned.iter().filter(|path| is_all || path.starts_with(&prefix)).collect();
        writer.list(owned.iter(), |writer, path| {
            writer.string(path);
        });
        Ok(())
    }

    fn multi(&mut self, reader: &mut Reader<'_>, writer: &mut Writer) -> Result<(), Refusal> {
        // All of it must be well-formed before any part is answered.
        let mut reads = Vec::new();
        loop {
            let (kind, is_last) = (reader.int()?, reader.bool()?);
            reader.int()?;
            if is_last {
                break;
            }
            let kind = Operation::of(kind).ok_or(Refusal::Marshalling)?;
            if !matches!(kind, Operation::GetData | Operation::GetChildren) {
                return Err(Refusal::Marshalling);
            }
            // A multi sets no watches.
            reads.push((kind, reader.text()?, reader.bool()?));
        }
        for (kind, path, _) in reads {
            let mut part = Writer::default();
            let (number, answered) = if kind == Operation::GetData {
                (result::GET_DATA, self.get_data(&path, false, &mut part))
            } else {
                (result::GET_CHILDREN, self.get_children(&path, false, &mut part).map(drop))
            };
            match answered {
                Ok(()) => {
                    writer.int(number).bool(false).int(0).raw(&part.into_bytes());
                }
                Err(refusal) => write_refused(refusal.number(), writer),
            }
        }
        writer.int(-1).bool(true).int(-1);
        Ok(())
    }

    /// Restores the watches of a reconnected client: sends the events it missed since its last
    /// zxid, and sets the other watches again.
    fn set_watches(
        &mut self,
        operation: Operation,
        reader: &mut Reader<'_>,
    ) -> Result<(), Refusal> {
        let seen = reader.long()?;
        let mut list = || reader.list(Reader::text).map(Option::unwrap_or_default);
        let (data, exists, children) = (list()?, list()?, list()?);
        let (persistent, recursive) = if operation == Operation::SetWatches2 {
            (list()?, list()?)
        } else {
            (Vec::new(), Vec::new())
        };
        for path in data {
            let missed = match self.tree.get(&path) {
                None => Some(Event::Deleted),
                Some(node) => (node.kept.mzxid > seen).then_some(Event::DataChanged),
            };
            self.catch_up(Of::Data, path, missed);
        }
        for path in exists {
            let missed = self.tree.get(&path).map(|_| Event::Created);
            self.catch_up(Of::Data, path, missed);
        }
        for path in children {
            let missed = match self.tree.get(&path) {
                None => Some(Event::Deleted),
                Some(node) => (node.kept.pzxid > seen).then_some(Event::ChildrenChanged),
            };
            self.catch_up(Of::Children, path, missed);
        }
        persistent.iter().for_each(|path| self.add_both(path, Mode::Persistent));
        recursive.iter().for_each(|path| self.add_both(path, Mode::Recursive));
        Ok(())
    }

    fn catch_up(&mut self, of: Of, path: String, missed: Option<Event>) {
        match missed {
            Some(event) => self.notices.push((self.connection, event, path)),
            None => self.watch(of, &path),
        }
    }

    fn add_both(&mut self, path: &str, mode: Mode) {
        for of in [Of::Data, Of::Children] {
            self.watches.add(of, path, self.connection, mode);
        }
    }

    fn add_watch(&mut self, reader: &mut Reader<'_>, writer: &mut Writer) -> Result<(), Refusal> {
        let (path, mode) = (reader.text()?, reader.int()?);
        match mode {
            0 => self.add_both(&path, Mode::Persistent),
            1 => self.add_both(&path, Mode::Recursive),
            _ => return Err(Refusal::Marshalling),
        }
        writer.int(0);
        Ok(())
    }

    fn check_watches(&self, reader: &mut Reader<'_>) -> Result<(), Refusal> {
        let (path, kinds) = (reader.text()?, kinds(reader.int()?)?);
        let is_watched = kinds.iter().any(|of| self.watches.any(*of, &path));
        if is_watched { Ok(()) } else { Err(Refusal::NoWatcher) }
    }

    fn remove_watches(&mut self, reader: &mut Reader<'_>) -> Result<(), Refusal> {
        let (path, kinds) = (reader.text()?, kinds(reader.int()?)?);
        let mut was_there = false;
        for of in kinds {
            was_there |= self.watches.remove(*of, &path, self.connection);
        }
        if was_there { Ok(()) } else { Err(Refusal::NoWatcher) }
    }

    fn who_am_i(&self, writer: &mut Writer) {
        writer.list(self.identities.iter(), |writer, id| {
            writer.string("digest").string(id.split(':').next().unwrap_or_default());
        });
    }
}

fn kinds(number: i32) -> Result<&'static [Of], Refusal> {
    match number {
        1 => Ok(&[Of::Children]),
        2 => Ok(&[Of::Data]),
        3 => Ok(&[Of::Children, Of::Data]),
        _ => Err(Refusal::Marshalling),
    }
}
