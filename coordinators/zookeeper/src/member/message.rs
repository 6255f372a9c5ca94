//! Messages between members, with the contents and order of Zab in fencepost's own encoding.

use crate::config::MemberId;
use crate::jute::Writer;
use crate::prepare::Request;
use crate::transaction::Transaction;
use crate::tree::Tree;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// A vote. The later epoch wins, then the longer log, then the greater id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) struct Vote {
    pub(crate) epoch: u32,
    pub(crate) zxid: i64,
    pub(crate) leader: MemberId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum State {
    Looking,
    Following,
    Leading,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Notification {
    pub(crate) state: State,
    pub(crate) round: u64,
    pub(crate) vote: Vote,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Progress {
    pub(crate) last: i64,
    pub(crate) base: i64,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    Hello(MemberId),
    Notification(Notification),
    FollowerInfo {
        accepted: u32,
    },
    LeaderInfo {
        epoch: u32,
    },
    /// Acknowledges an epoch. A member that had already accepted the epoch (`is_new` is `false`)
    /// does not count towards the quorum. `current` is the epoch of the member's history.
    AckEpoch {
        current: u32,
        is_new: bool,
        progress: Progress,
    },
    /// Drops the transactions after this zxid, because the leader does not have them.
    Truncate {
        zxid: i64,
    },
    Snapshot(Box<Tree>),
    Committed(Transaction),
    Proposal(Transaction),
    NewLeader {
        epoch: u32,
    },
    AckNewLeader,
    UpToDate,
    Ack {
        zxid: i64,
    },
    Commit {
        zxid: i64,
    },
    Ping,
    Pong {
        touched: Vec<(i64, i32)>,
    },
    Forward(Request),
    Sync {
        session: i64,
        cxid: i32,
    },
    Synced {
        session: i64,
        cxid: i32,
    },
    Revalidate {
        session: i64,
        timeout_ms: i32,
    },
    Revalidated {
        session: i64,
        is_valid: bool,
    },
}

impl Message {
    pub(crate) fn encode(&self) -> Bytes {
        let mut writer = Writer::frame();
        writer.raw(&serde_json::to_vec(self).expect("a message is JSON"));
        writer.framed()
    }

    pub(crate) fn decode(frame: &[u8]) -> Option<Message> {
        serde_json::from_slice(frame).ok()
    }
}
