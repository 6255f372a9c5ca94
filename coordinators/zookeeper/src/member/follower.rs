use crate::config::MemberId;
use bytes::BytesMut;
use fencepost_machine::ConnectionId;
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Calling,
    Informed,
    Receiving,
    Securing { epoch: u32, zxid: i64 },
    Level,
    Serving,
}

#[derive(Debug)]
pub(crate) struct Follower {
    pub(crate) leader: MemberId,
    pub(crate) link: ConnectionId,
    pub(crate) stage: Stage,
    pub(crate) input: BytesMut,
    pub(crate) calls: u32,
    pub(crate) call_again_at: Option<u64>,
    pub(crate) give_up_at: u64,
    pub(crate) acked: i64,
    pub(crate) touched: BTreeMap<i64, i32>,
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
