use crate::block::Storing;
use crate::cache::{Cache, Item, RemovedItem};
use crate::clock::{Clock, Expiry, TICK_US};
use bytes::{Buf, Bytes, BytesMut};
use fencepost_machine::{
    ConnectionId, Input, KeyChange, Machine, Now, OperatorAction, Output, Outputs, TapEvent,
};
use std::collections::BTreeMap;

/// Maximum length in bytes of an unfinished line, except for `get` and `gets`.
const LINE_MAX: usize = 2_048;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    pub memory_limit: usize,
    pub connections_max: usize,
    /// Prefix of the keys whose changes the server reports to the judge. `None` reports no changes.
    pub tap_prefix: Option<Bytes>,
}

impl Default for Config {
    fn default() -> Config {
        Config { memory_limit: 64 * 1024 * 1024, connections_max: 1_024, tap_prefix: None }
    }
}

/// A memcached server. A restart loses all items.
#[derive(Debug)]
pub struct Memcached {
    config: Config,
    pub(crate) cache: Cache,
    pub(crate) clock: Clock,
    connections: BTreeMap<ConnectionId, Connection>,
    out: Outputs,
    acting: Option<ConnectionId>,
    pub(crate) counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) gets: u64,
    pub(crate) hits: u64,
    pub(crate) sets: u64,
    pub(crate) evictions: u64,
}

#[derive(Debug, Default)]
struct Connection {
    input: BytesMut,
    storing: Option<Storing>,
    discarded: Option<DiscardedBlock>,
}

#[derive(Debug)]
struct DiscardedBlock {
    left: usize,
    reply: Vec<u8>,
}

enum Request {
    Line(Bytes),
    Block(Storing, Bytes),
    Swallowed(Vec<u8>),
    TooLong,
}

pub(crate) enum CommandResult {
    Reply(Vec<u8>),
    Await(Storing),
    Swallow(usize, Vec<u8>),
    Close,
}

impl Connection {
    fn next(&mut self) -> Option<Request> {
        if let Some(discarded) = &mut self.discarded {
            let skipped = discarded.left.min(self.input.len());
            self.input.advance(skipped);
            discarded.left -= skipped;
            if discarded.left > 0 {
                return None;
            }
            return self.discarded.take().map(|swallowed| Request::Swallowed(swallowed.reply));
        }
        if let Some(wanted) = self.storing.as_ref().map(Storing::block_length) {
            if self.input.len() < wanted {
                return None;
            }
            let block = self.input.split_to(wanted).freeze();
            return self.storing.take().map(|storing| Request::Block(storing, block));
        }
        match memchr::memchr(b'\n', &self.input) {
            Some(end) => {
                let line = self.input.split_to(end + 1).freeze();
                let line = line.slice(..end);
                let ends_in_return = line.last() == Some(&b'\r');
                Some(Request::Line(line.slice(..line.len() - usize::from(ends_in_return))))
            }
            None if self.input.len() > LINE_MAX && !self.is_get() => Some(Request::TooLong),
            None => None,
        }
    }

    fn is_get(&self) -> bool {
        let blanks = self.input.iter().take_while(|byte| **byte == b' ').count();
        let line = &self.input[blanks..];
        blanks <= 100 && (line.starts_with(b"get ") || line.starts_with(b"gets "))
    }

    fn has_more(&self) -> bool {
        match (&self.discarded, &self.storing) {
            (Some(discarded), _) => self.input.len() >= discarded.left,
            (None, Some(storing)) => self.input.len() >= storing.block_length(),
            (None, None) => {
                memchr::memchr(b'\n', &self.input).is_some()
                    || self.input.len() > LINE_MAX && !self.is_get()
            }
        }
    }
}

impl Memcached {
    pub fn new(config: Config, now: Now) -> Memcached {
        Memcached {
            cache: Cache::new(config.memory_limit),
            clock: Clock::new(now),
            connections: BTreeMap::new(),
            out: Outputs::default(),
            acting: None,
            counts: Counts::default(),
            config,
        }
    }

    fn accept(&mut self, connection: ConnectionId) {
        if self.connections.len() < self.config.connections_max {
            self.connections.insert(connection, Connection::default());
        } else {
            let bytes = Bytes::from_static(b"ERROR Too many open connections\r\n");
            self.out.list.push(Output::Send { connection, bytes });
            self.out.list.push(Output::Close { connection });
        }
    }

    fn serve(&mut self, id: ConnectionId) {
        while let Some(request) = self.connections.get_mut(&id).and_then(Connection::next) {
            self.acting = Some(id);
            let then = match request {
                Request::Line(line) => self.command(&line),
                Request::Block(storing, block) => {
                    CommandResult::Reply(self.finish(storing, &block))
                }
                Request::Swallowed(reply) => CommandResult::Reply(reply),
                Request::TooLong => CommandResult::Close,
            };
            let is_over = self.finish_command(id, then);
            self.acting = None;
            if is_over {
                break;
            }
        }
        self.out.more = self.connections.values().any(Connection::has_more);
    }

    fn finish_command(&mut self, id: ConnectionId, then: CommandResult) -> bool {
        let Some(connection) = self.connections.get_mut(&id) else { return true };
        let reply = match then {
            CommandResult::Await(storing) => {
                connection.storing = Some(storing);
                return false;
            }
            CommandResult::Close => {
                self.connections.remove(&id);
                self.out.list.push(Output::Close { connection: id });
                return true;
            }
            CommandResult::Swallow(left, reply) => {
                connection.discarded = Some(DiscardedBlock { left, reply });
                return false;
            }
            CommandResult::Reply(reply) => reply,
        };
        self.out.commands += 1;
        if !reply.is_empty() {
            self.out.list.push(Output::Send { connection: id, bytes: reply.into() });
        }
        true
    }

    pub(crate) fn report_if_gone(&mut self, key: &[u8]) {
        match self.cache.drop_if_gone(key, &self.clock) {
            Some(RemovedItem::Expired(item)) => self.report(key, &item, KeyChange::Expired),
            Some(RemovedItem::Flushed(item)) => self.report(key, &item, KeyChange::Flushed),
            None => {}
        }
    }

    /// Stores a value. If the new value has already expired, only removes the old one.
    pub(crate) fn put(&mut self, key: &[u8], flags: u32, value: Bytes, expiry: Expiry) {
        self.counts.sets += 1;
        let before = self.cache.get(key).cloned();
        for (evicted, item) in self.cache.store(key, flags, value, expiry, &self.clock) {
            self.counts.evictions += 1;
            self.report(&evicted, &item, KeyChange::Evicted);
        }
        if self.clock.has_reached(expiry) {
            self.cache.remove(key);
            if let Some(item) = before {
                self.report(key, &item, KeyChange::Removed);
            }
        } else if let Some(item) = self.cache.get(key).cloned() {
            self.report(key, &item, KeyChange::Granted);
        }
    }

    pub(crate) fn report(&mut self, key: &[u8], item: &Item, change: KeyChange) {
        let is_tapped =
            self.config.tap_prefix.as_ref().is_some_and(|prefix| key.starts_with(prefix));
        if !is_tapped {
            return;
        }
        let is_there = matches!(change, KeyChange::Granted | KeyChange::Extended);
        let expiry = self.clock.in_wall_ms(item.expiry).filter(|_| is_there);
        self.out.list.push(Output::Tap(TapEvent {
            key: Bytes::copy_from_slice(key),
            change,
            value: Some(item.value.clone()),
            by: self.acting,
            expires_at_ms: expiry,
            primary: true,
            token: is_there.then_some(item.cas),
        }));
    }

    fn operate(&mut self, action: OperatorAction) {
        let change = match action {
            OperatorAction::FlushAll => KeyChange::Flushed,
            OperatorAction::Evict => KeyChange::Evicted,
            _ => return,
        };
        for key in self.cache.keys() {
            self.report_if_gone(&key);
        }
        for (key, item) in self.cache.evict_all() {
            self.report(&key, &item, change);
        }
    }

    fn dispatch(&mut self, input: Input<'_>, now: Now) {
        match input {
            Input::Timer => {
                self.clock.tick(now);
                self.out.list.push(Output::WakeAfter { micros: TICK_US });
            }
            Input::Accepted { connection, .. } => self.accept(connection),
            Input::Received { connection, bytes } => {
                if let Some(open) = self.connections.get_mut(&connection) {
                    open.input.extend_from_slice(bytes);
                }
                self.serve(connection);
            }
            Input::Continue => {
                let waiting = self.connections.iter().find(|(_, open)| open.has_more());
                if let Some(id) = waiting.map(|(id, _)| *id) {
                    self.serve(id);
                }
            }
            Input::Closed { connection } => {
                self.connections.remove(&connection);
            }
            Input::Operator { action } => self.operate(action),
            Input::Connected { .. }
            | Input::ConnectFailed { .. }
            | Input::DiskSynced
            | Input::DiskFailed { .. }
            | Input::Unsent { .. } => {}
        }
    }
}

impl Machine for Memcached {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        std::mem::swap(&mut self.out, out);
        self.clock.catch_up(now);
        self.dispatch(input, now);
        std::mem::swap(&mut self.out, out);
    }

    fn supports(&self, action: OperatorAction) -> bool {
        matches!(action, OperatorAction::FlushAll | OperatorAction::Evict)
    }
}
