//! Raft messages (`raftpb.Message`).

use crate::state::Command;
use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Proposal {
    pub(crate) origin: u8,
    pub(crate) id: u64,
    pub(crate) command: Command,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) term: u64,
    pub(crate) proposal: Proposal,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Message {
    pub(crate) from: u8,
    pub(crate) to: u8,
    /// Term of the sender, or 0 for messages outside a term, such as forwarded proposals.
    pub(crate) term: u64,
    pub(crate) body: Body,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Body {
    Vote {
        index: u64,
        log_term: u64,
    },
    VoteReply {
        reject: bool,
    },
    Append {
        index: u64,
        log_term: u64,
        entries: Vec<Entry>,
        commit: u64,
    },
    /// `MsgAppResp`. The logs match up to `index`. On `reject`, the sender's ends at `hint`.
    AppendReply {
        index: u64,
        reject: bool,
        hint: u64,
    },
    /// A heartbeat (`MsgHeartbeat`). `context` identifies the reads that wait for the reply.
    Heartbeat {
        commit: u64,
        context: u64,
    },
    HeartbeatReply {
        context: u64,
    },
    Propose(Proposal),
    ReadIndex {
        id: u64,
    },
    ReadIndexReply {
        id: u64,
        index: u64,
    },
    LeaseAsk {
        call: u64,
        lease: i64,
        renews: bool,
    },
    LeaseTold {
        call: u64,
        told: LeaseTold,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum LeaseTold {
    Seconds(i64),
    NotFound,
    NotLeader,
}
