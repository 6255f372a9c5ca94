//! The watches of a stream (`api/v3rpc/watch.go`, `mvcc/watchable_store.go`).

use crate::mvcc::{Event, Span, Store};
use crate::reply::{self, Message, Responder};
use crate::request::{Watch, WatchCancel, WatchCreate};
use bytes::Bytes;
use std::collections::BTreeMap;

const WATCHERS_MAX: usize = 10_000;

#[derive(Clone, Debug)]
struct Watcher {
    span: Span,
    prev_kv: bool,
    next: i64,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Watching {
    watchers: BTreeMap<i64, Watcher>,
    next_id: i64,
}

impl Watching {
    pub(crate) fn is_empty(&self) -> bool {
        self.watchers.is_empty()
    }

    pub(crate) fn serve(&mut self, watch: Watch, store: &Store, who: Responder) -> Vec<String> {
        let header = who.header(store.revision());
        match watch {
            Watch::Create(create) => self.create(create, store, who),
            Watch::Cancel(WatchCancel { watch_id: id }) => match self.watchers.remove(&id) {
                None => Vec::new(),
                Some(_) => {
                    let message = Message::new().message("header", header).int("watch_id", id);
                    vec![reply::result(message.bool("canceled", true))]
                }
            },
        }
    }

    fn create(&mut self, create: WatchCreate, store: &Store, who: Responder) -> Vec<String> {
        let header = who.header(store.revision());
        let key = if create.key.is_empty() { Bytes::from_static(b"\0") } else { create.key };
        let span = Span { key, end: create.range_end };
        let id = match self.place(&span) {
            Ok(id) => id,
            Err(reason) => {
                let message = Message::new().message("header", header).int("watch_id", -1);
                let message = message.bool("created", true).bool("canceled", true);
                return vec![reply::result(message.text("cancel_reason", reason))];
            }
        };
        let start = create.start_revision;
        let next = if start == 0 { store.revision() + 1 } else { start };
        self.watchers.insert(id, Watcher { span, prev_kv: create.prev_kv, next });
        let created = Message::new().message("header", header).int("watch_id", id);
        let mut said = vec![reply::result(created.bool("created", true))];
        said.extend(self.catch_up(id, store, who));
        said
    }

    fn place(&mut self, span: &Span) -> Result<i64, &'static str> {
        let end: &[u8] = &span.end;
        if !matches!(end, [] | [0]) && span.key.as_ref() >= end {
            return Err("mvcc: watcher range is empty");
        }
        if self.watchers.len() >= WATCHERS_MAX {
            return Err("too many watches on one stream");
        }
        self.next_id += 1;
        Ok(self.next_id - 1)
    }

    fn catch_up(&mut self, id: i64, store: &Store, who: Responder) -> Option<String> {
        let watcher = self.watchers.get_mut(&id)?;
        if watcher.next > store.revision() {
            return None;
        }
        let told = watcher.notify(store.since(watcher.next), store);
        watcher.next = store.revision() + 1;
        told.map(|events| item(id, events, store, who))
    }

    pub(crate) fn changed(
        &mut self,
        events: &[Event],
        store: &Store,
        who: Responder,
    ) -> Vec<String> {
        let mut said = Vec::new();
        for (id, watcher) in &mut self.watchers {
            if watcher.next <= store.revision() {
                watcher.next = store.revision() + 1;
                let told = watcher.notify(events.iter(), store);
                said.extend(told.map(|events| item(*id, events, store, who)));
            }
        }
        said
    }
}

impl Watcher {
    fn notify<'e>(
        &self,
        events: impl Iterator<Item = &'e Event>,
        store: &Store,
    ) -> Option<Vec<String>> {
        let wanted = events.filter(|event| self.span.contains(&event.kv.key));
        let told: Vec<String> = wanted
            .map(|event| {
                let is_new = event.is_put && event.kv.create_revision == event.kv.mod_revision;
                let before = (self.prev_kv && !is_new)
                    .then(|| store.get(&event.kv.key, event.kv.mod_revision - 1))
                    .flatten();
                reply::event(event, before)
            })
            .collect();
        (!told.is_empty()).then_some(told)
    }
}

fn item(id: i64, events: Vec<String>, store: &Store, who: Responder) -> String {
    let message = Message::new().message("header", who.header(store.revision()));
    reply::result(message.int("watch_id", id).list("events", events))
}
