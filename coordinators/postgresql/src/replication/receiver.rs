//! Stores and replays the log on the standby (`walreceiver`).

use super::replay::replay;
use super::sender::stamp;
use crate::core::Core;
use crate::stream::shown;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use fencepost_machine::{ConnectionId, Output};
use std::collections::VecDeque;

/// Default of `wal_receiver_status_interval`.
const STATUS_US: u64 = 10_000_000;
/// Default of `wal_receiver_timeout`.
const SILENCE_US: u64 = 60_000_000;
/// Default of `wal_retrieve_retry_interval`.
const RETRY_US: u64 = 5_000_000;
const MESSAGE_MAX: usize = 64 * 1024 * 1024;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Connecting,
    Greeting,
    Identifying,
    Starting,
    Streaming,
}

#[derive(Debug)]
pub(crate) struct Receiver {
    primary: (String, u16),
    connection: Option<(ConnectionId, Stage)>,
    input: BytesMut,
    next_connection: u32,
    tried_at: u64,
    retry_at: Option<u64>,
    heard_at: u64,
    told_at: u64,
    has_asked: bool,
    written: u64,
    syncing: VecDeque<(u64, u64, Bytes)>,
    flushed: u64,
}

impl Receiver {
    pub(crate) fn new(primary: (String, u16), core: &Core) -> Receiver {
        let now = core.now.monotonic.0;
        Receiver {
            primary,
            connection: None,
            input: BytesMut::new(),
            next_connection: u32::MAX,
            tried_at: now,
            retry_at: Some(now),
            heard_at: now,
            told_at: now,
            has_asked: false,
            written: core.log.flushed(),
            syncing: VecDeque::new(),
            flushed: core.log.flushed(),
        }
    }

    pub(crate) fn owns(&self, connection: ConnectionId) -> bool {
        self.connection.is_some_and(|(own, _)| own == connection)
    }

    fn is_streaming(&self) -> bool {
        matches!(self.connection, Some((_, Stage::Streaming)))
    }

    pub(crate) fn next_timer(&self) -> Option<u64> {
        if !self.is_streaming() {
            return self.retry_at;
        }
        let silence = if self.has_asked { SILENCE_US } else { SILENCE_US / 2 };
        Some((self.told_at + STATUS_US).min(self.heard_at + silence))
    }

    pub(crate) fn check_timers(&mut self, core: &mut Core) {
        let now = core.now.monotonic.0;
        if self.retry_at.is_some_and(|at| at <= now) {
            return self.connect(core);
        }
        if !self.is_streaming() {
            return;
        }
        if self.heard_at + SILENCE_US <= now {
            self.close(core);
            return self.retry(core);
        }
        if self.heard_at + SILENCE_US / 2 <= now && !self.has_asked {
            self.has_asked = true;
            self.report(core);
        } else if self.told_at + STATUS_US <= now {
            self.report(core);
        }
    }

    fn connect(&mut self, core: &mut Core) {
        let connection = ConnectionId(self.next_connection);
        self.next_connection -= 1;
        (self.retry_at, self.tried_at) = (None, core.now.monotonic.0);
        self.connection = Some((connection, Stage::Connecting));
        self.input.clear();
        let (host, port) = self.primary.clone();
        core.wants.push(Output::Connect { connection, host, port });
    }

    pub(crate) fn retry(&mut self, core: &Core) {
        self.connection = None;
        self.retry_at = Some(core.now.monotonic.0.max(self.tried_at + RETRY_US));
    }

    fn close(&mut self, core: &mut Core) {
        if let Some((connection, _)) = self.connection.take() {
            core.wants.push(Output::Close { connection });
        }
    }

    pub(crate) fn connected(&mut self, core: &mut Core) {
        let body = b"\0\x03\0\0user\0replicator\0database\0replication\0replication\0true\0\
                     application_name\0walreceiver\0\0";
        let length = (body.len() as u32 + 4).to_be_bytes();
        self.send(core, Stage::Greeting, [&length[..], body].concat());
    }

    fn send(&mut self, core: &mut Core, next: Stage, bytes: Vec<u8>) {
        let Some((connection, stage)) = &mut self.connection else { return };
        *stage = next;
        core.wants.push(Output::Send { connection: *connection, bytes: bytes.into() });
    }

    fn ask(&mut self, core: &mut Core, next: Stage, text: &str) {
        let length = (text.len() as u32 + 5).to_be_bytes();
        self.send(core, next, [b"Q", &length[..], text.as_bytes(), b"\0"].concat());
    }

    fn report(&mut self, core: &mut Core) {
        let mut body = BytesMut::new();
        body.put_u8(b'd');
        body.put_u32(4 + 34);
        body.put_u8(b'r');
        [self.written, self.flushed, self.flushed].into_iter().for_each(|at| body.put_u64(at));
        body.put_i64(stamp(core.now.wall));
        body.put_u8(u8::from(self.has_asked));
        self.told_at = core.now.monotonic.0;
        self.send(core, Stage::Streaming, body.to_vec());
    }

    pub(crate) fn receive(&mut self, core: &mut Core, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
        (self.heard_at, self.has_asked) = (core.now.monotonic.0, false);
        while let Some(head) = self.input.first_chunk::<5>() {
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let kind = head[0];
            if !(4..=MESSAGE_MAX).contains(&length) {
                return self.give_up(core);
            }
            if self.input.len() <= length {
                return;
            }
            let mut body = self.input.split_to(length + 1).freeze();
            body.advance(5);
            self.message(core, kind, body);
            if self.connection.is_none() {
                return;
            }
        }
    }

    fn give_up(&mut self, core: &mut Core) {
        self.close(core);
        self.retry(core);
    }

    fn message(&mut self, core: &mut Core, kind: u8, body: Bytes) {
        let Some((_, stage)) = self.connection else { return };
        match (kind, stage) {
            (b'Z', Stage::Greeting) => self.ask(core, Stage::Identifying, "IDENTIFY_SYSTEM"),
            (b'Z', Stage::Identifying) => {
                let from = shown(self.written);
                let text = format!("START_REPLICATION PHYSICAL {from} TIMELINE 1");
                self.ask(core, Stage::Starting, &text);
            }
            (b'W', Stage::Starting) => self.report(core),
            (b'd', Stage::Streaming) => self.take(core, body),
            (b'E' | b'c', _) => self.give_up(core),
            _ => {}
        }
    }

    fn take(&mut self, core: &mut Core, mut body: Bytes) {
        if body.first() != Some(&b'w') {
            return;
        }
        body.advance(1);
        let Ok(start) = body.try_get_u64() else { return self.give_up(core) };
        if start != self.written || body.len() < 16 {
            return self.give_up(core);
        }
        body.advance(16);
        self.written += body.len() as u64;
        let sync = core.write(body.clone()).unwrap_or(core.done_syncs);
        self.syncing.push_back((sync, self.written, body));
        self.advance(core);
    }

    pub(crate) fn advance(&mut self, core: &mut Core) {
        let before = self.flushed;
        while self.syncing.front().is_some_and(|(sync, _, _)| *sync <= core.done_syncs) {
            if let Some((_, end, part)) = self.syncing.pop_front() {
                self.flushed = end;
                replay(core, &part);
            }
        }
        if self.flushed != before && self.is_streaming() {
            self.report(core);
        }
    }

    pub(crate) fn end(mut self, core: &mut Core) {
        self.close(core);
        for (_, _, part) in self.syncing {
            replay(core, &part);
        }
    }
}
