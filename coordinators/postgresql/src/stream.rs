//! Replication settings ([`Replication`]), and the log that a primary streams to its standby.

use bytes::Bytes;
use std::collections::VecDeque;

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Replication {
    #[default]
    None,
    Primary {
        /// `true` if commits wait until a standby has them on disk (`synchronous_standby_names`).
        synchronous: bool,
    },
    /// A server that is a standby until an operator promotes it.
    Standby {
        /// Host name and port of the primary.
        primary: (String, u16),
    },
}

const FIRST: u64 = 0x0300_0000;

pub(crate) fn shown(position: u64) -> String {
    format!("{:X}/{:X}", position >> 32, position & 0xffff_ffff)
}

#[derive(Debug)]
pub(crate) struct Log {
    is_kept: bool,
    parts: VecDeque<(u64, Bytes)>,
    end: u64,
    syncing: VecDeque<u64>,
    flushed: u64,
}

impl Log {
    pub(crate) fn new(is_kept: bool, held: &Bytes) -> Log {
        let mut log = Log {
            is_kept,
            parts: VecDeque::new(),
            end: FIRST,
            syncing: VecDeque::new(),
            flushed: FIRST,
        };
        log.append(held);
        log.flushed = log.end;
        log
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    pub(crate) fn append(&mut self, bytes: &Bytes) -> u64 {
        if self.is_kept && !bytes.is_empty() {
            self.end += bytes.len() as u64;
            self.parts.push_back((self.end, bytes.clone()));
        }
        self.end
    }

    pub(crate) fn sync(&mut self) {
        self.syncing.push_back(self.end);
    }

    pub(crate) fn synced(&mut self) {
        self.flushed = self.syncing.pop_front().unwrap_or(self.flushed).max(self.flushed);
    }

    pub(crate) fn trust(&mut self) {
        self.flushed = self.end;
    }

    pub(crate) fn flushed(&self) -> u64 {
        self.flushed
    }

    pub(crate) fn has(&self, position: u64) -> bool {
        (FIRST..=self.flushed).contains(&position)
    }

    pub(crate) fn after(&self, position: u64) -> Option<(u64, Bytes)> {
        let next = self.parts.partition_point(|(end, _)| *end <= position);
        let (end, part) = self.parts.get(next).filter(|(end, _)| *end <= self.flushed)?;
        let start = end - part.len() as u64;
        let known = usize::try_from(position.saturating_sub(start)).unwrap_or(0);
        Some((start.max(position), part.slice(known..)))
    }
}

/// Default of `wal_sender_timeout`.
const SILENCE_US: u64 = 60_000_000;

#[derive(Debug)]
pub(crate) struct Sender {
    /// Sent log position, or `None` before the standby requests the log.
    pub(crate) sent: Option<u64>,
    pub(crate) heard_at: u64,
}

impl Sender {
    pub(crate) fn new(now: u64) -> Sender {
        Sender { sent: None, heard_at: now }
    }

    pub(crate) fn ends_at(&self) -> Option<u64> {
        self.sent.map(|_| self.heard_at + SILENCE_US)
    }
}
