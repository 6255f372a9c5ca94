//! What members say to each other to agree (`raftpb.Message`).

use crate::state::Command;
use serde::{Deserialize, Serialize};

/// A change that a member wants made, and by which it knows it again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Proposal {
    pub(crate) origin: u8,
    pub(crate) id: u64,
    pub(crate) command: Command,
}

/// A place in the log. Its index is its position, from 1.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) term: u64,
    pub(crate) proposal: Proposal,
}

/// A message from one member to another.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) from: u8,
    pub(crate) to: u8,
    /// 0 for what has no term: proposals, and questions about what is committed.
    pub(crate) term: u64,
    pub(crate) body: Body,
}

/// What a message says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Body {
    /// `MsgVote`: a candidate asks for a vote, and says where its log ends.
    Vote { index: u64, log_term: u64 },
    /// `MsgVoteResp`.
    VoteReply { reject: bool },
    /// `MsgApp`: entries that follow the one at `index`.
    Append { index: u64, log_term: u64, entries: Vec<Entry>, commit: u64 },
    /// `MsgAppResp`: the log is alike up to `index`, or was not alike there and ends at `hint`.
    AppendReply { index: u64, reject: bool, hint: u64 },
    /// `MsgHeartbeat`: `context` numbers the reads that wait for its answer.
    Heartbeat { commit: u64, context: u64 },
    /// `MsgHeartbeatResp`.
    HeartbeatReply { context: u64 },
    /// `MsgProp`: a follower hands on what a client wants.
    Propose(Proposal),
    /// `MsgReadIndex`: up to where must be applied before the answer is not stale?
    ReadIndex { id: u64 },
    /// `MsgReadIndexResp`.
    ReadIndexReply { id: u64, index: u64 },
    /// A lease is to be kept alive, or to be looked at: the leader knows when it ends.
    LeaseAsk { call: u64, lease: i64, renews: bool },
    /// Its ttl, or how much of it is left; none if there is no such lease or it cannot be told
    /// here.
    LeaseTold { call: u64, told: LeaseTold },
}

/// What a leader says of a lease.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum LeaseTold {
    Seconds(i64),
    NotFound,
    /// The one asked does not lead.
    NotLeader,
}
