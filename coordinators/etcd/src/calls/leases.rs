//! Renews and looks up leases without log entries, because only the leader tracks expiry.

use crate::lease::LEASE_RETRY_MS;
use crate::pending::{Pending, Task};
use crate::raft::{Body, LeaseTold, Message as PeerMessage};
use crate::reply::{self, Message};
use crate::server::Etcd;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

impl Etcd {
    pub(super) fn ask_lease(&mut self, call: u64) {
        let ask_again_ms = self.now_ms() + LEASE_RETRY_MS;
        let (leader, me) = (self.raft.leader, self.config.me);
        let Some(Pending { task: Task::Lease(lease), .. }) = self.calls.pending.get_mut(&call)
        else {
            return;
        };
        lease.ask_again_ms = ask_again_ms;
        let (id, renews) = (lease.id, lease.renews);
        if leader == me {
            let told = if renews { self.renew(id, call, None) } else { Some(self.look_up(id)) };
            told.into_iter().for_each(|told| self.handle_lease_answer(call, told));
        } else if leader != 0 {
            let body = Body::LeaseAsk { call, lease: id, renews };
            self.raft.outbox.push(PeerMessage { from: me, to: leader, term: 0, body });
        }
    }

    fn look_up(&self, id: i64) -> LeaseTold {
        let is_there = self.state.lessor.get(id).is_some();
        let left = self.state.lessor.remaining(id, self.now.monotonic.0);
        if is_there { LeaseTold::Seconds(left) } else { LeaseTold::NotFound }
    }

    fn renew(&mut self, id: i64, call: u64, of: Option<u8>) -> Option<LeaseTold> {
        match self.state.lessor.renew(id, self.now.monotonic.0) {
            Ok(ttl) => Some(LeaseTold::Seconds(ttl)),
            Err(false) => Some(LeaseTold::NotFound),
            Err(true) => {
                self.calls.ended.retain(|(_, waiting, _)| *waiting != call);
                self.calls.ended.push((id, call, of));
                None
            }
        }
    }

    pub(crate) fn receive_lease_query(&mut self, from: u8, call: u64, id: i64) {
        let is_leader = self.raft.is_leader();
        let told = if is_leader { self.look_up(id) } else { LeaseTold::NotLeader };
        self.answer_lease(from, call, told);
    }

    pub(crate) fn receive_renewal(&mut self, from: u8, call: u64, id: i64) {
        let told = match self.raft.is_leader() {
            true => self.renew(id, call, Some(from)),
            false => Some(LeaseTold::NotLeader),
        };
        told.into_iter().for_each(|told| self.answer_lease(from, call, told));
    }

    pub(super) fn answer_lease(&mut self, to: u8, call: u64, told: LeaseTold) {
        let body = Body::LeaseTold { call, told };
        self.raft.outbox.push(PeerMessage { from: self.config.me, to, term: 0, body });
    }

    pub(crate) fn handle_lease_end(&mut self, id: i64) {
        let ended = std::mem::take(&mut self.calls.ended);
        let (gone, left) = ended.into_iter().partition(|(lease, ..)| *lease == id);
        self.calls.ended = left;
        for (_, call, of) in gone {
            match of {
                Some(member) => self.answer_lease(member, call, LeaseTold::NotFound),
                None => self.handle_lease_answer(call, LeaseTold::NotFound),
            }
        }
    }

    pub(crate) fn handle_lease_answer(&mut self, call: u64, told: LeaseTold) {
        let Some(Pending { task: Task::Lease(lease), .. }) = self.calls.pending.get(&call) else {
            return;
        };
        let lease = *lease;
        let seconds = match told {
            LeaseTold::Seconds(seconds) => Some(seconds),
            LeaseTold::NotFound => None,
            LeaseTold::NotLeader => return,
        };
        let header = self.responder().header(self.state.store.revision());
        let message = Message::new().message("header", header).int("ID", lease.id);
        let text = if lease.renews {
            reply::result(message.int("TTL", seconds.unwrap_or(0)))
        } else {
            let found = self.state.lessor.get(lease.id).filter(|_| seconds.is_some());
            let keys = found.filter(|_| lease.keys).map(|found| {
                found.keys.iter().map(|key| format!("\"{}\"", STANDARD.encode(key))).collect()
            });
            let message = message.int("TTL", seconds.unwrap_or(-1));
            let message = message.int("grantedTTL", found.map_or(0, |found| found.ttl));
            message.list("keys", keys.unwrap_or_default()).end()
        };
        self.conclude(call, Ok(text));
    }
}
