use super::protocol::{Credentials, NodeChange, Request, Response, ZooKeeperError};
use super::watches::{WatchedEvent, Watcher, Watches};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterLoss {
    /// Sets the watches again at the next server, which reports missed events (`primeConnection`).
    Restore,
    /// Notifies and forgets all watchers (`zookeeper.disableAutoWatchReset`, `_reset_watchers`).
    Forget,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queued {
    /// If the client fails to connect, the queued requests fail (`SendThread.cleanup`).
    FailWithConnect,
    /// Queued requests wait until the client connects (`_session_callback`).
    UntilConnected,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SessionOptions {
    pub after_loss: AfterLoss,
    pub queued: Queued,
}

impl SessionOptions {
    pub const JAVA: SessionOptions =
        SessionOptions { after_loss: AfterLoss::Restore, queued: Queued::FailWithConnect };
    pub const KAZOO: SessionOptions =
        SessionOptions { after_loss: AfterLoss::Forget, queued: Queued::UntilConnected };
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    Connecting,
    Connected,
    Closed,
}

/// A request, its watcher and the slot for its answer (`ClientCnxn.Packet`).
pub(super) struct Packet {
    pub(super) request: Request,
    watcher: Option<Rc<Watcher>>,
    answer: Rc<Answer>,
}

#[derive(Default)]
pub(super) struct Answer {
    outcome: RefCell<Option<Result<Response, ZooKeeperError>>>,
    waker: RefCell<Option<Waker>>,
}

impl Answer {
    pub(super) fn poll(&self, waker: &Waker) -> Poll<Result<Response, ZooKeeperError>> {
        match self.outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                *self.waker.borrow_mut() = Some(waker.clone());
                Poll::Pending
            }
        }
    }

    fn set(&self, outcome: Result<Response, ZooKeeperError>) {
        *self.outcome.borrow_mut() = Some(outcome);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

pub(super) struct Shared {
    pub(super) options: SessionOptions,
    watcher: Rc<Watcher>,
    pub(super) state: RefCell<State>,
}

pub(super) struct State {
    pub(super) status: Status,
    pub(super) credentials: Credentials,
    pub(super) timeout: Duration,
    pub(super) last_zxid: i64,
    xid: i32,
    watches: Watches,
    outgoing: VecDeque<Packet>,
    pending: VecDeque<(i32, Packet)>,
    pub(super) waker: Option<Waker>,
}

impl Shared {
    pub(super) fn new(timeout: Duration, options: SessionOptions, watcher: Rc<Watcher>) -> Shared {
        let state = State {
            status: Status::Connecting,
            credentials: Credentials::none(),
            timeout,
            last_zxid: 0,
            xid: 1,
            watches: Watches::default(),
            outgoing: VecDeque::new(),
            pending: VecDeque::new(),
            waker: None,
        };
        Shared { options, watcher, state: RefCell::new(state) }
    }

    pub(super) fn submit(&self, request: Request, watcher: Option<Rc<Watcher>>) -> Rc<Answer> {
        let answer = Rc::<Answer>::default();
        let state = &mut *self.state.borrow_mut();
        if state.status == Status::Closed {
            answer.set(Err(ZooKeeperError::SessionExpired));
        } else {
            state.outgoing.push_back(Packet { request, watcher, answer: answer.clone() });
            state.waker.take().into_iter().for_each(Waker::wake);
        }
        answer
    }

    pub(super) fn connect(&self, timeout: Duration, credentials: Credentials) {
        let state = &mut *self.state.borrow_mut();
        state.status = Status::Connected;
        (state.timeout, state.credentials) = (timeout, credentials);
        if let Some(request) = state.watches.restore_request(state.last_zxid) {
            let answer = Rc::<Answer>::default();
            state.outgoing.push_front(Packet { request, watcher: None, answer });
        }
        self.watcher.notify(WatchedEvent::Connected);
        state.watches.notify_all(WatchedEvent::Connected);
    }

    pub(super) fn lose(&self) {
        let state = &mut *self.state.borrow_mut();
        if state.status == Status::Closed {
            return;
        }
        let was_connected = state.status == Status::Connected;
        state.status = Status::Connecting;
        let fails_queued = was_connected || self.options.queued == Queued::FailWithConnect;
        state.fail(fails_queued, &ZooKeeperError::ConnectionLoss);
        self.watcher.notify(WatchedEvent::Disconnected);
        state.watches.notify_all(WatchedEvent::Disconnected);
        if self.options.after_loss == AfterLoss::Forget {
            state.watches.forget();
        }
    }

    pub(super) fn close(&self) {
        let state = &mut *self.state.borrow_mut();
        if state.status == Status::Closed {
            return;
        }
        state.status = Status::Closed;
        state.fail(true, &ZooKeeperError::SessionExpired);
        self.watcher.notify(WatchedEvent::Expired);
        state.watches.notify_all(WatchedEvent::Expired);
        state.waker.take().into_iter().for_each(Waker::wake);
    }
}

impl State {
    pub(super) fn next_frame(&mut self) -> Option<Vec<u8>> {
        let packet = self.outgoing.pop_front()?;
        let xid = self.xid;
        self.xid = self.xid.checked_add(1).unwrap_or(1);
        let frame = packet.request.encode(xid);
        self.pending.push_back((xid, packet));
        Some(frame)
    }

    pub(super) fn next_pending(&mut self) -> Option<(i32, Packet)> {
        self.pending.pop_front()
    }

    pub(super) fn fire(&mut self, change: NodeChange, path: &str) {
        self.watches.fire(change, path);
    }

    pub(super) fn answer(&mut self, packet: Packet, outcome: Result<Response, ZooKeeperError>) {
        let exists = outcome.is_ok();
        if (exists || outcome == Err(ZooKeeperError::NoNode))
            && let Some(watcher) = packet.watcher
        {
            self.watches.register(&packet.request, exists, watcher);
        }
        packet.answer.set(outcome);
    }

    fn fail(&mut self, fails_queued: bool, error: &ZooKeeperError) {
        for (_, packet) in std::mem::take(&mut self.pending) {
            packet.answer.set(Err(error.clone()));
        }
        if fails_queued {
            for packet in std::mem::take(&mut self.outgoing) {
                packet.answer.set(Err(error.clone()));
            }
        } else {
            self.outgoing.retain(|packet| !matches!(packet.request, Request::SetWatches { .. }));
        }
    }
}
