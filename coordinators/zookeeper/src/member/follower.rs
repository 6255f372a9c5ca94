//! What a follower remembers.

use crate::config::MemberId;
use bytes::BytesMut;
use fencepost_machine::ConnectionId;
use std::collections::BTreeMap;

/// How far a follower has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// The leader does not answer yet.
    Calling,
    /// The leader has still to say which epoch it opens.
    Informed,
    /// What the leader has is on its way.
    Receiving,
    /// All of it is here; the disk has still to make it safe.
    Securing {
        epoch: u32,
        zxid: i64,
    },
    /// The leader has still to say that a majority has it.
    Level,
    Serving,
}

/// What a follower knows.
#[derive(Debug)]
pub(crate) struct Follower {
    pub(crate) leader: MemberId,
    pub(crate) link: ConnectionId,
    pub(crate) stage: Stage,
    pub(crate) input: BytesMut,
    pub(crate) calls: u32,
    pub(crate) call_again_at: Option<u64>,
    /// When the leader will have been silent for too long, in milliseconds.
    pub(crate) give_up_at: u64,
    pub(crate) acked: i64,
    /// Sessions that were heard of since the leader asked last, with their timeouts.
    pub(crate) touched: BTreeMap<i64, i32>,
    /// Clients that are back with their sessions and wait for the leader's word.
    pub(crate) revalidating: BTreeMap<i64, ConnectionId>,
}

impl Follower {
    pub(crate) fn is_serving(&self) -> bool {
        self.stage == Stage::Serving
    }

    pub(crate) fn link(&self) -> ConnectionId {
        self.link
    }

    pub(crate) fn touch(&mut self, session: i64, timeout_ms: i32) {
        self.touched.insert(session, timeout_ms);
    }

    pub(crate) fn next_due(&self) -> u64 {
        self.call_again_at.map_or(self.give_up_at, |at| at.min(self.give_up_at))
    }
}
