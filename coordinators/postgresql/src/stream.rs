//! How a server takes part in replication, the log that it hands on, and how far a standby has it.

use bytes::Bytes;
use std::collections::VecDeque;

/// How a server takes part in replication.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Replication {
    /// Not at all.
    #[default]
    None,
    /// It is the primary.
    Primary {
        /// Whether a commit waits until a standby has it on its disk
        /// (`synchronous_standby_names`).
        synchronous: bool,
    },
    /// It follows a primary until it is promoted.
    Standby {
        /// Name of the primary's host, and port.
        primary: (String, u16),
    },
}

/// Where the log of a new cluster begins, as after the first base backup.
const FIRST: u64 = 0x0300_0000;

/// A place in the log, as the server writes it.
pub(crate) fn shown(position: u64) -> String {
    format!("{:X}/{:X}", position >> 32, position & 0xffff_ffff)
}

/// The log since the base backup, to be sent to a standby.
#[derive(Debug)]
pub(crate) struct Log {
    /// Nothing is kept where nobody may ask.
    is_kept: bool,
    /// Each part with the place where it ends.
    parts: VecDeque<(u64, Bytes)>,
    end: u64,
    /// Where it ended at each sync that is not done yet.
    syncing: VecDeque<u64>,
    flushed: u64,
}

impl Log {
    /// The log of a server whose disk holds this, all of it safely.
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

    /// Whether it can be sent to others.
    pub(crate) fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Where it ends after this.
    pub(crate) fn append(&mut self, bytes: &Bytes) -> u64 {
        if self.is_kept && !bytes.is_empty() {
            self.end += bytes.len() as u64;
            self.parts.push_back((self.end, bytes.clone()));
        }
        self.end
    }

    /// A sync of all so far has begun.
    pub(crate) fn sync(&mut self) {
        self.syncing.push_back(self.end);
    }

    /// The oldest sync is done.
    pub(crate) fn synced(&mut self) {
        self.flushed = self.syncing.pop_front().unwrap_or(self.flushed).max(self.flushed);
    }

    /// All so far counts as safe, for a server that does not sync.
    pub(crate) fn trust(&mut self) {
        self.flushed = self.end;
    }

    pub(crate) fn flushed(&self) -> u64 {
        self.flushed
    }

    /// Whether a standby may begin here.
    pub(crate) fn has(&self, position: u64) -> bool {
        (FIRST..=self.flushed).contains(&position)
    }

    /// The next part after a place that is safely on the disk, with where it begins.
    pub(crate) fn after(&self, position: u64) -> Option<(u64, Bytes)> {
        let next = self.parts.partition_point(|(end, _)| *end <= position);
        let (end, part) = self.parts.get(next).filter(|(end, _)| *end <= self.flushed)?;
        let start = end - part.len() as u64;
        let known = usize::try_from(position.saturating_sub(start)).unwrap_or(0);
        Some((start.max(position), part.slice(known..)))
    }
}

/// After how long a silence the primary gives a standby up (`wal_sender_timeout`).
const SILENCE_US: u64 = 60_000_000;

/// How far a standby is.
#[derive(Debug)]
pub(crate) struct Sender {
    /// Up to where it was sent the log; `None` before it has asked for it.
    pub(crate) sent: Option<u64>,
    pub(crate) heard_at: u64,
}

impl Sender {
    pub(crate) fn new(now: u64) -> Sender {
        Sender { sent: None, heard_at: now }
    }

    /// When the standby is given up if it stays silent.
    pub(crate) fn ends_at(&self) -> Option<u64> {
        self.sent.map(|_| self.heard_at + SILENCE_US)
    }
}
