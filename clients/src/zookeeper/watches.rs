//! A client's watches ([`Watches`], `ZKWatchManager` of ZooKeeper 3.8).

use super::protocol::{NodeChange, Request};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::task::{Poll, Waker};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WatchedEvent {
    Connected,
    Disconnected,
    Expired,
    Node(NodeChange),
}

#[derive(Default, Debug)]
pub struct Watcher {
    events: RefCell<VecDeque<WatchedEvent>>,
    waker: RefCell<Option<Waker>>,
}

impl Watcher {
    pub async fn next(&self) -> WatchedEvent {
        std::future::poll_fn(|context| match self.events.borrow_mut().pop_front() {
            Some(event) => Poll::Ready(event),
            None => {
                *self.waker.borrow_mut() = Some(context.waker().clone());
                Poll::Pending
            }
        })
        .await
    }

    pub fn clear(&self) {
        self.events.borrow_mut().clear();
    }

    pub fn notify(&self, event: WatchedEvent) {
        self.events.borrow_mut().push_back(event);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

type Watchers = BTreeMap<String, Vec<Rc<Watcher>>>;

#[derive(Default, Debug)]
pub struct Watches {
    data: Watchers,
    exist: Watchers,
    child: Watchers,
}

impl Watches {
    /// Records the watcher if the server has set the watch. `exists` is `true` if the node exists.
    pub fn register(&mut self, request: &Request, exists: bool, watcher: Rc<Watcher>) {
        let (watchers, path) = match (request, exists) {
            (Request::GetData { path, .. } | Request::Exists { path, .. }, true) => {
                (&mut self.data, path)
            }
            (Request::Exists { path, .. }, false) => (&mut self.exist, path),
            (Request::GetChildren { path, .. }, true) => (&mut self.child, path),
            _ => return,
        };
        let watchers = watchers.entry(path.clone()).or_default();
        if !watchers.iter().any(|known| Rc::ptr_eq(known, &watcher)) {
            watchers.push(watcher);
        }
    }

    /// Notifies the watchers of a change, and removes them, because each watch fires once.
    pub fn fire(&mut self, change: NodeChange, path: &str) {
        let kinds: &mut [&mut Watchers] = match change {
            NodeChange::Created | NodeChange::Data => &mut [&mut self.data, &mut self.exist],
            NodeChange::Deleted => &mut [&mut self.data, &mut self.exist, &mut self.child],
            NodeChange::Children => &mut [&mut self.child],
        };
        for watcher in kinds.iter_mut().filter_map(|kind| kind.remove(path)).flatten() {
            watcher.notify(WatchedEvent::Node(change));
        }
    }

    pub fn notify_all(&self, event: WatchedEvent) {
        for watcher in [&self.data, &self.exist, &self.child].into_iter().flat_map(BTreeMap::values)
        {
            watcher.iter().for_each(|watcher| watcher.notify(event));
        }
    }

    pub fn forget(&mut self) {
        *self = Watches::default();
    }

    pub fn restore_request(&self, relative_zxid: i64) -> Option<Request> {
        let paths = |watchers: &Watchers| watchers.keys().cloned().collect::<Vec<_>>();
        let (data, exist, child) = (paths(&self.data), paths(&self.exist), paths(&self.child));
        let is_empty = data.is_empty() && exist.is_empty() && child.is_empty();
        (!is_empty).then_some(Request::SetWatches { relative_zxid, data, exist, child })
    }
}
