//! Leading: a majority is won over to a new epoch and brought level, then transactions are proposed
//! and committed. A server that stands alone leads from the start, in epoch 0.

use super::learners::{Learners, Stage as LearnerStage};
use super::message::{Message, Vote};
use crate::code::Refusal;
use crate::config::{Config, MemberId};
use crate::foreseen::Foreseen;
use crate::prepare::{Kind, Preparation, Request};
use crate::server::{Role, ZooKeeper};
use crate::sessions::Sessions;
use crate::store::Epochs;
use crate::transaction::{Change, Transaction};
use fencepost_machine::ConnectionId;
use std::collections::{BTreeMap, VecDeque};

/// How often containers are looked after, in milliseconds (`znode.container.checkIntervalMs`).
const CONTAINERS_MS: u64 = 60_000;

/// How far a leader has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Stage {
    /// Waits for a majority to tell the epochs that they know.
    Inviting,
    /// Has opened a new epoch, and waits for a majority to accept it.
    Confirming,
    /// Waits for a majority to have its history.
    Synchronising,
    Serving,
}

/// A transaction that is not committed yet.
#[derive(Clone, Debug)]
struct Proposal {
    zxid: i64,
    /// Who wanted to see all that was proposed until then.
    syncs: Vec<Sync>,
}

/// A session's wish to see what is committed, and through whom it came.
type Sync = (MemberId, i64, i32);

/// What a leader knows.
#[derive(Debug)]
pub(crate) struct Leader {
    stage: Stage,
    epoch: u32,
    pub(super) learners: Learners,
    outstanding: VecDeque<Proposal>,
    foreseen: Foreseen,
    sessions: Sessions,
    last_proposed: i64,
    /// When it gives up if a majority has not come level, in milliseconds.
    give_up_at: u64,
    half_tick_at: u64,
    is_full_tick: bool,
    containers_at: u64,
}

impl Leader {
    fn new(config: &Config, now_ms: u64) -> Leader {
        Leader {
            stage: Stage::Inviting,
            epoch: 0,
            learners: Learners::default(),
            outstanding: VecDeque::new(),
            foreseen: Foreseen::default(),
            sessions: Sessions::new(&BTreeMap::new(), config.tick_ms, now_ms),
            last_proposed: 0,
            give_up_at: now_ms + config.init_ms(),
            half_tick_at: now_ms + config.tick_ms / 2,
            is_full_tick: false,
            containers_at: now_ms + CONTAINERS_MS,
        }
    }

    pub(crate) fn is_serving(&self) -> bool {
        self.stage == Stage::Serving
    }

    pub(super) fn stage(&self) -> Stage {
        self.stage
    }

    pub(super) fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The connections of its learners.
    pub(super) fn links(&self) -> Vec<ConnectionId> {
        self.learners.connections()
    }

    pub(crate) fn touch(&mut self, session: i64, timeout_ms: i32, now_ms: u64) -> bool {
        self.sessions.touch(session, timeout_ms, now_ms)
    }

    /// A client is back through a member. Returns whether its session lives.
    pub(crate) fn revalidate(
        &mut self,
        session: i64,
        (timeout_ms, now_ms): (i32, u64),
        through: MemberId,
    ) -> bool {
        let is_valid = self.sessions.touch(session, timeout_ms, now_ms);
        self.sessions.move_to(session, through);
        is_valid
    }

    pub(crate) fn check_session(&mut self, session: i64, me: MemberId) -> Result<(), Refusal> {
        self.sessions.check(session, me).map_err(|refusal| match refusal {
            // In an ensemble a session that is not known was known once.
            Refusal::UnknownSession if self.epoch > 0 => Refusal::SessionExpired,
            refusal => refusal,
        })
    }

    /// A transaction is part of the tree now.
    pub(crate) fn applied(&mut self, transaction: &Transaction) {
        self.foreseen.committed(transaction.zxid);
        if let Change::CloseSession { .. } = transaction.change {
            self.sessions.remove(transaction.session);
        }
    }

    pub(crate) fn next_due(&self) -> Option<u64> {
        if self.stage < Stage::Serving {
            return Some(self.give_up_at.min(self.half_tick_at));
        }
        let sessions = self.sessions.next_expiry();
        // Nobody has to be told of the time where there is nobody else.
        let tick = (self.epoch > 0).then_some(self.half_tick_at);
        [sessions, tick, Some(self.containers_at)].into_iter().flatten().min()
    }
}

impl ZooKeeper {
    /// Becomes the leader.
    pub(crate) fn lead(&mut self) {
        self.role = Role::Leading(Leader::new(&self.config, self.now_ms()));
        if self.config.is_alone() {
            self.serve_as_leader();
        } else {
            self.open_epoch();
        }
    }

    /// Opens an epoch later than any that a majority knows, once a majority has come.
    pub(super) fn open_epoch(&mut self) {
        let Role::Leading(leader) = &mut self.role else { return };
        let is_majority = leader.learners.count(|_| true) + 1 >= self.config.majority();
        if leader.stage != Stage::Inviting || !is_majority {
            return;
        }
        let own = self.store.epochs();
        leader.epoch = own.accepted.max(leader.learners.accepted_max()).saturating_add(1);
        leader.stage = Stage::Confirming;
        let epochs = Epochs { accepted: leader.epoch, ..own };
        self.store.set_epochs(epochs, &mut self.out.list);
        leader.learners.tell(|_| true, &Message::LeaderInfo { epoch: leader.epoch }, &mut self.out);
    }

    /// Hands its history on, once a majority has accepted the epoch.
    pub(super) fn synchronise(&mut self) {
        let Role::Leading(leader) = &mut self.role else { return };
        let is_majority = leader.learners.count(|one| one.counts()) + 1 >= self.config.majority();
        if leader.stage != Stage::Confirming || !is_majority {
            return;
        }
        leader.stage = Stage::Synchronising;
        leader.last_proposed = i64::from(leader.epoch) << 32;
        let epochs = Epochs { current: leader.epoch, accepted: leader.epoch };
        let zxid = self.store.last_logged();
        let vote = Vote { epoch: leader.epoch, zxid, leader: self.config.me };
        self.election.settle(vote);
        self.store.set_epochs(epochs, &mut self.out.list);
        self.store.sync(&mut self.out.list);
        let Role::Leading(leader) = &self.role else { return };
        let confirmed = leader.learners.at(LearnerStage::Confirmed);
        confirmed.into_iter().for_each(|connection| self.bring_level(connection));
    }

    /// Serves, once a majority has its history on disk.
    pub(super) fn establish_epoch(&mut self) {
        let Role::Leading(leader) = &self.role else { return };
        let is_safe = self.store.synced() >= self.store.last_logged();
        let level = leader.learners.count(|one| one.stage == LearnerStage::Level);
        if leader.stage == Stage::Synchronising && is_safe && level + 1 >= self.config.majority() {
            self.serve_as_leader();
        }
        let Role::Leading(leader) = &mut self.role else { return };
        if leader.is_serving() {
            leader.learners.admit(&mut self.out);
        }
    }

    fn serve_as_leader(&mut self) {
        let (tick_ms, now_ms) = (self.config.tick_ms, self.now_ms());
        let Role::Leading(leader) = &mut self.role else { return };
        leader.stage = Stage::Serving;
        leader.sessions = Sessions::new(&self.store.tree.sessions, tick_ms, now_ms);
        leader.last_proposed = leader.last_proposed.max(self.store.last_logged());
        leader.half_tick_at = now_ms + tick_ms / 2;
        leader.containers_at = now_ms + CONTAINERS_MS;
    }

    /// Takes a request that came through a member, and proposes what comes of it.
    pub(crate) fn take(&mut self, request: &Request, through: MemberId) {
        let (now_ms, time_ms) = (self.now_ms(), self.now.wall.as_millis());
        let Role::Leading(leader) = &mut self.role else { return };
        let (session, zxid) = (request.session, leader.last_proposed.saturating_add(1));
        let allowed = match request.kind {
            Kind::OpenSession { timeout_ms } => {
                leader.sessions.track(session, timeout_ms, now_ms);
                leader.sessions.move_to(session, through);
                Ok(())
            }
            Kind::CloseSession | Kind::DeleteContainer(_) => Ok(()),
            Kind::Client(..) => leader.check_session(session, through),
        };
        let foreseen = &mut leader.foreseen;
        let identities = request.identities.as_slice();
        let tree = &self.store.tree;
        let mut preparation = Preparation { tree, foreseen, zxid, time_ms, session, identities };
        let change = allowed.and_then(|()| match &request.kind {
            Kind::OpenSession { timeout_ms } => Ok(Change::OpenSession { timeout_ms: *timeout_ms }),
            Kind::CloseSession => Ok(preparation.close_session()),
            Kind::DeleteContainer(path) => preparation.delete_container(path),
            Kind::Client(operation, body) => preparation.operation(*operation, body),
        });
        if request.kind == Kind::CloseSession {
            leader.sessions.set_closing(session);
        }
        let change = change.unwrap_or_else(|refusal| Change::Refused(refusal.number()));
        self.propose(Transaction { zxid, session, cxid: request.cxid, time_ms, change });
    }

    fn propose(&mut self, transaction: Transaction) {
        let Role::Leading(leader) = &mut self.role else { return };
        leader.last_proposed = transaction.zxid;
        let proposal = Proposal { zxid: transaction.zxid, syncs: Vec::new() };
        leader.outstanding.push_back(proposal);
        let message = Message::Proposal(transaction.clone());
        leader.learners.tell(|one| one.stage >= LearnerStage::Sent, &message, &mut self.out);
        self.store.append(transaction, &mut self.out.list);
        self.store.sync(&mut self.out.list);
    }

    /// Commits what a majority has on disk, in order.
    pub(super) fn commit(&mut self) {
        let own = self.store.synced();
        loop {
            let Role::Leading(leader) = &mut self.role else { return };
            let Some(first) = leader.outstanding.front() else { return };
            let zxid = first.zxid;
            let others = leader.learners.count(|one| one.acked >= zxid);
            if others + usize::from(own >= zxid) < self.config.majority() {
                return;
            }
            let proposal = leader.outstanding.pop_front();
            let message = Message::Commit { zxid };
            leader.learners.tell(|one| one.stage >= LearnerStage::Sent, &message, &mut self.out);
            self.apply(zxid);
            let syncs = proposal.into_iter().flat_map(|proposal| proposal.syncs);
            syncs.for_each(|sync| self.answer_sync(sync));
        }
    }

    /// The transactions that are proposed and not committed.
    pub(super) fn proposed(&self) -> &[Transaction] {
        self.store.logged_after(self.store.tree.zxid).unwrap_or_default()
    }

    pub(super) fn leader_synced(&mut self) {
        self.establish_epoch();
        self.commit();
    }

    /// A session wants to see all that is proposed by now.
    pub(super) fn take_sync(&mut self, through: MemberId, session: i64, cxid: i32) {
        let Role::Leading(leader) = &mut self.role else { return };
        match leader.outstanding.back_mut() {
            Some(last) => last.syncs.push((through, session, cxid)),
            None => self.answer_sync((through, session, cxid)),
        }
    }

    fn answer_sync(&mut self, (through, session, cxid): Sync) {
        if through == self.config.me {
            return self.finish_sync(session, cxid);
        }
        let Role::Leading(leader) = &mut self.role else { return };
        let message = Message::Synced { session, cxid };
        leader.learners.tell(|one| one.id == through, &message, &mut self.out);
    }

    pub(crate) fn wake_leader(&mut self) {
        let now_ms = self.now_ms();
        let Role::Leading(leader) = &mut self.role else { return };
        if leader.stage < Stage::Serving && leader.give_up_at <= now_ms {
            return self.look_for_leader();
        }
        if !self.config.is_alone() && leader.half_tick_at <= now_ms {
            self.half_tick(now_ms);
        }
        self.expire_sessions(now_ms);
        self.delete_containers(now_ms);
    }

    /// Every half tick the learners are told that the leader lives; every tick it makes sure that a
    /// majority still does.
    fn half_tick(&mut self, now_ms: u64) {
        let silent = {
            let Role::Leading(leader) = &mut self.role else { return };
            leader.half_tick_at = now_ms + self.config.tick_ms / 2;
            leader.is_full_tick = !leader.is_full_tick;
            leader.learners.silent(&self.config, now_ms)
        };
        silent.into_iter().for_each(|connection| {
            self.hang_up(connection);
            self.learner_lost(connection);
        });
        let Role::Leading(leader) = &mut self.role else { return };
        let level = leader.learners.count(|one| one.stage == LearnerStage::Admitted);
        let is_majority = level + 1 >= self.config.majority();
        if leader.is_full_tick && leader.is_serving() && !is_majority {
            return self.look_for_leader();
        }
        leader.learners.tell(|one| one.stage >= LearnerStage::Sent, &Message::Ping, &mut self.out);
    }

    fn expire_sessions(&mut self, now_ms: u64) {
        let Role::Leading(leader) = &mut self.role else { return };
        if !leader.is_serving() {
            return;
        }
        for session in leader.sessions.expire(now_ms) {
            let kind = Kind::CloseSession;
            let request = Request { session, cxid: 0, kind, identities: Vec::new() };
            self.take(&request, self.config.me);
        }
    }

    fn delete_containers(&mut self, now_ms: u64) {
        let Role::Leading(leader) = &mut self.role else { return };
        if !leader.is_serving() || leader.containers_at > now_ms {
            return;
        }
        leader.containers_at = now_ms + CONTAINERS_MS;
        let deserted: Vec<String> = self.store.tree.deserted().cloned().collect();
        for path in deserted {
            let kind = Kind::DeleteContainer(path);
            let request = Request { session: 0, cxid: 0, kind, identities: Vec::new() };
            self.take(&request, self.config.me);
        }
    }
}
