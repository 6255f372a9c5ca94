use super::learners::Learners;
use super::stage::LeaderStage;
use crate::code::Refusal;
use crate::config::{Config, MemberId};
use crate::outstanding_changes::OutstandingChanges;
use crate::sessions::Sessions;
use crate::transaction::{Change, Transaction};
use fencepost_machine::ConnectionId;
use std::collections::{BTreeMap, VecDeque};

/// Default of ZooKeeper's `znode.container.checkIntervalMs`.
pub(crate) const CONTAINERS_MS: u64 = 60_000;

#[derive(Clone, Debug)]
pub(crate) struct Proposal {
    pub(crate) zxid: i64,
    pub(crate) syncs: Vec<Sync>,
}

pub(crate) type Sync = (MemberId, i64, i32);

#[derive(Debug)]
pub(crate) struct Leader {
    pub(crate) stage: LeaderStage,
    pub(crate) epoch: u32,
    pub(crate) learners: Learners,
    pub(crate) outstanding: VecDeque<Proposal>,
    pub(crate) outstanding_changes: OutstandingChanges,
    pub(crate) sessions: Sessions,
    pub(crate) last_proposed: i64,
    pub(crate) give_up_at: u64,
    pub(crate) half_tick_at: u64,
    pub(crate) is_full_tick: bool,
    pub(crate) containers_at: u64,
}

impl Leader {
    pub(crate) fn new(config: &Config, now_ms: u64) -> Leader {
        Leader {
            stage: LeaderStage::Inviting,
            epoch: 0,
            learners: Learners::default(),
            outstanding: VecDeque::new(),
            outstanding_changes: OutstandingChanges::default(),
            sessions: Sessions::new(&BTreeMap::new(), config.tick_ms, now_ms),
            last_proposed: 0,
            give_up_at: now_ms + config.init_ms(),
            half_tick_at: now_ms + config.tick_ms / 2,
            is_full_tick: false,
            containers_at: now_ms + CONTAINERS_MS,
        }
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.stage == LeaderStage::Serving
    }

    pub(crate) fn stage(&self) -> LeaderStage {
        self.stage
    }

    pub(crate) fn epoch(&self) -> u32 {
        self.epoch
    }

    pub(crate) fn links(&self) -> Vec<ConnectionId> {
        self.learners.connections()
    }

    pub(crate) fn touch(&mut self, session: i64, timeout_ms: i32, now_ms: u64) -> bool {
        self.sessions.touch(session, timeout_ms, now_ms)
    }

    pub(crate) fn revalidate(
        &mut self,
        session: i64,
        timeout_ms: i32,
        now_ms: u64,
        through: MemberId,
    ) -> bool {
        let is_valid = self.sessions.touch(session, timeout_ms, now_ms);
        self.sessions.move_to(session, through);
        is_valid
    }

    pub(crate) fn check_session(&mut self, session: i64, me: MemberId) -> Result<(), Refusal> {
        self.sessions.check(session, me).map_err(|refusal| match refusal {
            Refusal::UnknownSession if self.epoch > 0 => Refusal::SessionExpired,
            refusal => refusal,
        })
    }

    pub(crate) fn applied(&mut self, transaction: &Transaction) {
        self.outstanding_changes.committed(transaction.zxid);
        if let Change::CloseSession { .. } = transaction.change {
            self.sessions.remove(transaction.session);
        }
    }

    pub(crate) fn next_due(&self) -> Option<u64> {
        if self.stage < LeaderStage::Serving {
            return Some(self.give_up_at.min(self.half_tick_at));
        }
        let sessions = self.sessions.next_expiry();
        let tick = (self.epoch > 0).then_some(self.half_tick_at);
        [sessions, tick, Some(self.containers_at)].into_iter().flatten().min()
    }
}
