//! Clients that wait until their writes are elsewhere, or on disk.

use super::{Replica, Replication};
use crate::state::client_key::ClientKey;

/// What is to become of a write before its client is answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Goal {
    /// WAIT: so many replicas have applied it.
    Applied {
        /// How many.
        replicas: usize,
    },
    /// WAITAOF: it is synced to the append-only files of so many replicas, and to our own.
    Synced {
        /// Whether our own counts.
        local: bool,
        /// How many.
        replicas: usize,
    },
}

/// A client in WAIT or WAITAOF.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Waiting {
    /// Who waits.
    pub(crate) client: ClientKey,
    /// Until that much of the stream has got there.
    pub(crate) offset: u64,
    /// Where it is to be.
    pub(crate) goal: Goal,
    /// When it is answered at the latest, in wall-clock milliseconds; `None` is never.
    pub(crate) until_ms: Option<i64>,
}

impl Replication {
    /// How many replicas have acknowledged that much of the stream.
    pub(crate) fn acknowledged(&self, offset: u64) -> usize {
        let has_it = |replica: &&Replica| replica.is_online() && replica.acknowledged >= offset;
        self.replicas.iter().filter(has_it).count()
    }

    /// How many replicas have that much of the stream safe on disk.
    pub(crate) fn synced(&self, offset: u64) -> usize {
        let has_it = |replica: &&Replica| replica.is_online() && replica.synced >= offset;
        self.replicas.iter().filter(has_it).count()
    }

    /// Clients that wait for acknowledgements.
    pub(crate) fn waiting(&self) -> &[Waiting] {
        &self.waiting
    }

    /// A client waits. Replicas are asked for an acknowledgement at once.
    pub(crate) fn wait(&mut self, waiting: Waiting) {
        self.waiting.push(waiting);
        self.wants_acknowledgements = true;
    }

    /// A client no longer waits.
    pub(crate) fn end_wait(&mut self, waiting: &Waiting) {
        self.waiting.retain(|other| other != waiting);
    }

    /// Nobody waits any longer. Returns who did.
    pub(crate) fn end_all_waits(&mut self) -> Vec<Waiting> {
        std::mem::take(&mut self.waiting)
    }
}
