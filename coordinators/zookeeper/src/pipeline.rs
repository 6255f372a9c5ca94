use crate::code::{Operation, PING_XID, Refusal};
use crate::jute::{Reader, Writer};
use crate::prepare::{Kind, Request};
use crate::reading::Reading;
use crate::reply;
use crate::server::{Role, ZooKeeper};
use crate::transaction::{Change, Transaction};
use crate::tree::{NodeEvent, Outcome};
use crate::waiting::{RequestClass, Waiting};
use crate::watches::Notice;
use fencepost_machine::KeyChange;
use std::collections::VecDeque;

impl ZooKeeper {
    pub(crate) fn submit_or_read(&mut self, session: i64, waiting: Waiting, kind: Option<Kind>) {
        match (&waiting.what, kind) {
            (_, Some(kind)) => self.submit(session, waiting, kind),
            (RequestClass::Sync(_), None) => {
                let cxid = waiting.cxid;
                self.queues.entry(session).or_default().push_back(waiting);
                self.ask_for_sync(session, cxid);
            }
            _ if self.queues.contains_key(&session) => {
                self.queues.entry(session).or_default().push_back(waiting);
            }
            _ => self.read(session, waiting),
        }
    }

    pub(crate) fn submit(&mut self, session: i64, waiting: Waiting, kind: Kind) {
        let request = Request { session, cxid: waiting.cxid, kind };
        self.queues.entry(session).or_default().push_back(waiting);
        match &self.role {
            Role::Leading(_) => self.take(&request, self.config.me),
            Role::Following(_) => self.forward(request),
            Role::Looking => {}
        }
    }

    pub(crate) fn apply(&mut self, zxid: i64) {
        let mut node_events = Vec::new();
        while let Some((transaction, outcome)) = self.store.apply_next(zxid, &mut node_events) {
            if let Role::Leading(leader) = &mut self.role {
                leader.applied(&transaction);
            }
            self.spread(&transaction, &node_events);
            node_events.clear();
            self.conclude(&transaction, &outcome);
        }
        self.store.compact_log(&mut self.out.list);
    }

    pub(crate) fn spread(&mut self, transaction: &Transaction, node_events: &[NodeEvent]) {
        let mut notices = Vec::new();
        node_events.iter().for_each(|node_event| self.watches.trigger(node_event, &mut notices));
        self.notify(notices);
        let is_expiry = transaction.cxid == 0;
        let left = match transaction.change {
            Change::CloseSession { .. } if is_expiry => KeyChange::Expired,
            _ => KeyChange::Removed,
        };
        let paths = node_events.iter().filter_map(|node_event| match node_event {
            NodeEvent::Created(path) | NodeEvent::Deleted(path) => Some(path.as_str()),
            NodeEvent::DataChanged(_) => None,
        });
        let told = self.heads.take_changes(&self.store.tree, paths, left);
        if !told.is_empty() {
            let by = self.connection_of(transaction.session).filter(|_| !is_expiry);
            self.report(told, by);
        }
    }

    fn notify(&mut self, notices: Vec<Notice>) {
        for (connection, event, path) in notices {
            self.send_to_client(connection, reply::event(event, &path));
        }
    }

    fn conclude(&mut self, transaction: &Transaction, outcome: &Outcome) {
        let (session, cxid) = (transaction.session, transaction.cxid);
        let first = self.queues.get_mut(&session).and_then(|queue| {
            take_first(queue, |first| {
                let is_opening = matches!(transaction.change, Change::OpenSession { .. });
                let is_it = matches!(
                    (&first.what, is_opening),
                    (RequestClass::OpenSession, true)
                        | (RequestClass::Change | RequestClass::CloseSession, false)
                );
                is_it && first.cxid == cxid
            })
        });
        if let Some(waiting) = first {
            self.answer(&waiting, outcome);
            self.resume(session);
        } else if matches!(transaction.change, Change::CloseSession { .. }) {
            // The session expired, or was closed through another server.
            self.queues.remove(&session);
            if let Some(connection) = self.connection_of(session) {
                self.hang_up(connection);
            }
        }
    }

    fn answer(&mut self, waiting: &Waiting, outcome: &Outcome) {
        let connection = waiting.connection;
        let moved = Outcome::Refused(Refusal::SessionMoved.number());
        let is_moved = match outcome {
            Outcome::Many(parts) => parts.contains(&moved),
            one => *one == moved,
        };
        if is_moved {
            return self.hang_up(connection);
        }
        if matches!(waiting.what, RequestClass::OpenSession) {
            return self.establish(connection, *outcome == Outcome::SessionOpened);
        }
        if *outcome == Outcome::Checked {
            // The real server never replies, because it fails to serialise this result.
            return;
        }
        let bytes = reply::outcome(waiting.cxid, self.store.tree.zxid, outcome);
        self.send_to_client(connection, bytes);
        if matches!(waiting.what, RequestClass::CloseSession) {
            self.hang_up(connection);
        }
    }

    fn resume(&mut self, session: i64) {
        while let Some(queue) = self.queues.get_mut(&session) {
            match take_first(queue, |next| matches!(next.what, RequestClass::Read(..))) {
                Some(waiting) => self.read(session, waiting),
                None => {
                    if queue.is_empty() {
                        self.queues.remove(&session);
                    }
                    return;
                }
            }
        }
    }

    pub(crate) fn finish_sync(&mut self, session: i64, cxid: i32) {
        let first = self.queues.get_mut(&session).and_then(|queue| {
            take_first(queue, |first| {
                matches!(first.what, RequestClass::Sync(_)) && first.cxid == cxid
            })
        });
        let Some(Waiting { connection, what: RequestClass::Sync(body), .. }) = first else {
            return;
        };
        let path = Reader::new(&body).string().map_err(Refusal::from);
        let record = path.map(|path| {
            move |writer: &mut Writer| {
                match &path {
                    Some(path) => writer.string(path),
                    None => writer.buffer(None),
                };
            }
        });
        let bytes = reply::reply(cxid, self.store.tree.zxid, record);
        self.send_to_client(connection, bytes);
        self.resume(session);
    }

    fn read(&mut self, session: i64, waiting: Waiting) {
        let Waiting { connection, cxid, what } = waiting;
        let RequestClass::Read(operation, body) = what else { return };
        let zxid = self.store.tree.zxid;
        match self.check_session(session) {
            Ok(()) => {}
            Err(Refusal::SessionMoved) => return self.hang_up(connection),
            Err(refusal) => {
                return self.send_to_client(connection, reply::refusal(cxid, zxid, refusal));
            }
        }
        if operation == Operation::Ping {
            return self.send_to_client(connection, reply::empty(PING_XID, zxid));
        }
        if self.client(connection).is_none() {
            return;
        }
        let mut notices = Vec::new();
        let mut reading = Reading {
            tree: &self.store.tree,
            watches: &mut self.watches,
            connection,
            notices: &mut notices,
        };
        let answer = reading.answer(operation, &body);
        self.notify(notices);
        let record = answer.map(|record| {
            move |writer: &mut Writer| {
                writer.raw(&record.into_bytes());
            }
        });
        self.send_to_client(connection, reply::reply(cxid, zxid, record));
    }

    fn check_session(&mut self, session: i64) -> Result<(), Refusal> {
        let me = self.config.me;
        match &mut self.role {
            Role::Leading(leader) => leader.check_session(session, me),
            Role::Following(_) | Role::Looking => Ok(()),
        }
    }
}

fn take_first(
    queue: &mut VecDeque<Waiting>,
    is_it: impl FnOnce(&Waiting) -> bool,
) -> Option<Waiting> {
    if queue.front().is_some_and(is_it) { queue.pop_front() } else { None }
}
