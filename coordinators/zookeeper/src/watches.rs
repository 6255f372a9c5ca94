//! Watches of each connection. A reconnected client must set its watches again.

use crate::path;
use crate::tree::NodeEvent;
use fencepost_machine::ConnectionId;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    Created = 1,
    Deleted = 2,
    DataChanged = 3,
    ChildrenChanged = 4,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WatchKind {
    Data,
    Children,
}

type Table = BTreeMap<String, BTreeSet<ConnectionId>>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    data: Table,
    children: Table,
}

pub(crate) type Notice = (ConnectionId, Event, String);

impl Watches {
    fn table(&mut self, of: WatchKind) -> &mut Table {
        match of {
            WatchKind::Data => &mut self.data,
            WatchKind::Children => &mut self.children,
        }
    }

    pub(crate) fn add(&mut self, of: WatchKind, path: &str, connection: ConnectionId) {
        self.table(of).entry(path.to_owned()).or_default().insert(connection);
    }

    /// Returns `true` if any client has this watch, as in 3.8 (`WatchManager.containsWatcher`).
    pub(crate) fn has_any(&self, of: WatchKind, path: &str) -> bool {
        match of {
            WatchKind::Data => self.data.contains_key(path),
            WatchKind::Children => self.children.contains_key(path),
        }
    }

    pub(crate) fn remove(&mut self, of: WatchKind, path: &str, connection: ConnectionId) -> bool {
        let table = self.table(of);
        let Some(watchers) = table.get_mut(path) else { return false };
        let was_there = watchers.remove(&connection);
        if watchers.is_empty() {
            table.remove(path);
        }
        was_there
    }

    pub(crate) fn forget(&mut self, connection: ConnectionId) {
        for table in [&mut self.data, &mut self.children] {
            table.retain(|_, watchers| {
                watchers.remove(&connection);
                !watchers.is_empty()
            });
        }
    }

    pub(crate) fn trigger(&mut self, node_event: &NodeEvent, notices: &mut Vec<Notice>) {
        match node_event {
            NodeEvent::Created(path) => {
                fire(&mut self.data, path, Event::Created, &[], notices);
                let parent = parent(path);
                fire(&mut self.children, parent, Event::ChildrenChanged, &[], notices);
            }
            NodeEvent::Deleted(path) => {
                let told = fire(&mut self.data, path, Event::Deleted, &[], notices);
                fire(&mut self.children, path, Event::Deleted, &told, notices);
                let parent = parent(path);
                fire(&mut self.children, parent, Event::ChildrenChanged, &[], notices);
            }
            NodeEvent::DataChanged(path) => {
                fire(&mut self.data, path, Event::DataChanged, &[], notices);
            }
        }
    }
}

fn parent(path: &str) -> &str {
    path::shown(path.rsplit_once('/').map_or("", |(parent, _)| parent))
}

fn fire(
    table: &mut Table,
    path: &str,
    event: Event,
    told: &[ConnectionId],
    notices: &mut Vec<Notice>,
) -> Vec<ConnectionId> {
    let concerned: Vec<ConnectionId> = table.remove(path).unwrap_or_default().into_iter().collect();
    let news = concerned.iter().filter(|connection| !told.contains(connection));
    notices.extend(news.map(|connection| (*connection, event, path.to_owned())));
    concerned
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: ConnectionId = ConnectionId(1);

    fn events(watches: &mut Watches, node_event: &NodeEvent) -> Vec<(Event, String)> {
        let mut notices = Vec::new();
        watches.trigger(node_event, &mut notices);
        notices.into_iter().map(|(_, event, path)| (event, path)).collect()
    }

    #[test]
    fn a_watch_is_told_once_and_a_deletion_not_twice() {
        let mut watches = Watches::default();
        watches.add(WatchKind::Data, "/a", CLIENT);
        watches.add(WatchKind::Children, "/a", CLIENT);
        watches.add(WatchKind::Children, "/", CLIENT);
        let deleted = NodeEvent::Deleted("/a".to_owned());
        let expected =
            [(Event::Deleted, "/a".to_owned()), (Event::ChildrenChanged, "/".to_owned())];
        assert_eq!(events(&mut watches, &deleted), expected);
        assert_eq!(events(&mut watches, &deleted), []);
    }

    #[test]
    fn a_connection_that_is_gone_is_told_nothing() {
        let mut watches = Watches::default();
        watches.add(WatchKind::Data, "/a", CLIENT);
        watches.forget(CLIENT);
        assert_eq!(events(&mut watches, &NodeEvent::DataChanged("/a".to_owned())), []);
        assert!(!watches.remove(WatchKind::Data, "/a", CLIENT));
    }
}
