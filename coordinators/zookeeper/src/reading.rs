//! Answers read requests from this server's own tree.

use crate::code::{Operation, Refusal};
use crate::jute::{Reader, Writer};
use crate::tree::{Node, Tree};
use crate::watches::{Event, Notice, WatchKind, Watches};
use fencepost_machine::ConnectionId;

pub(crate) struct Reading<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) watches: &'a mut Watches,
    pub(crate) connection: ConnectionId,
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
            Operation::SetWatches => self.set_watches(reader)?,
            Operation::CheckWatches => self.check_watches(reader)?,
            Operation::RemoveWatches => self.remove_watches(reader)?,
            _ => return Err(Refusal::Unimplemented),
        }
        Ok(writer)
    }

    fn watch(&mut self, of: WatchKind, path: &str) {
        self.watches.add(of, path, self.connection);
    }

    fn exists(&mut self, reader: &mut Reader<'_>, writer: &mut Writer) -> Result<(), Refusal> {
        let (path, is_watched) = (reader.text()?, reader.bool()?);
        if path.contains('\0') {
            return Err(Refusal::BadArguments);
        }
        if is_watched {
            self.watch(WatchKind::Data, &path);
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
        if is_watched {
            self.watch(WatchKind::Data, path);
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
        if is_watched {
            self.watch(WatchKind::Children, path);
        }
        writer.list(node.children.iter(), |writer, name| {
            writer.string(name);
        });
        Ok(node)
    }

    fn set_watches(&mut self, reader: &mut Reader<'_>) -> Result<(), Refusal> {
        let seen = reader.long()?;
        let mut list = || reader.list(Reader::text).map(Option::unwrap_or_default);
        let (data, exists, children) = (list()?, list()?, list()?);
        for path in data {
            let missed = match self.tree.get(&path) {
                None => Some(Event::Deleted),
                Some(node) => (node.kept.mzxid > seen).then_some(Event::DataChanged),
            };
            self.catch_up(WatchKind::Data, path, missed);
        }
        for path in exists {
            let missed = self.tree.get(&path).map(|_| Event::Created);
            self.catch_up(WatchKind::Data, path, missed);
        }
        for path in children {
            let missed = match self.tree.get(&path) {
                None => Some(Event::Deleted),
                Some(node) => (node.kept.pzxid > seen).then_some(Event::ChildrenChanged),
            };
            self.catch_up(WatchKind::Children, path, missed);
        }
        Ok(())
    }

    fn catch_up(&mut self, of: WatchKind, path: String, missed: Option<Event>) {
        match missed {
            Some(event) => self.notices.push((self.connection, event, path)),
            None => self.watch(of, &path),
        }
    }

    fn check_watches(&self, reader: &mut Reader<'_>) -> Result<(), Refusal> {
        let (path, kinds) = (reader.text()?, kinds(reader.int()?)?);
        let is_there = kinds.iter().any(|of| self.watches.has_any(*of, &path));
        if is_there { Ok(()) } else { Err(Refusal::NoWatcher) }
    }

    fn remove_watches(&mut self, reader: &mut Reader<'_>) -> Result<(), Refusal> {
        let (path, kinds) = (reader.text()?, kinds(reader.int()?)?);
        let mut was_there = false;
        for of in kinds {
            was_there |= self.watches.remove(*of, &path, self.connection);
        }
        if was_there { Ok(()) } else { Err(Refusal::NoWatcher) }
    }
}

fn kinds(number: i32) -> Result<&'static [WatchKind], Refusal> {
    match number {
        1 => Ok(&[WatchKind::Children]),
        2 => Ok(&[WatchKind::Data]),
        3 => Ok(&[WatchKind::Children, WatchKind::Data]),
        _ => Err(Refusal::Marshalling),
    }
}
