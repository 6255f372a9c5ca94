//! A leader's role. A standalone server leads from the start, in epoch 0.

use crate::config::MemberId;
use crate::member::leader::{CONTAINERS_MS, Leader, Proposal, Sync};
use crate::member::learners::Stage as LearnerStage;
use crate::member::message::{Message, Vote};
use crate::member::stage::LeaderStage;
use crate::prepare::{Kind, Preparation, Request};
use crate::server::{Role, ZooKeeper};
use crate::sessions::Sessions;
use crate::store::Epochs;
use crate::transaction::{Change, Transaction};

impl ZooKeeper {
    pub(crate) fn lead(&mut self) {
        self.role = Role::Leading(Leader::new(&self.config, self.now_ms()));
        if self.config.is_alone() {
            self.serve_as_leader();
        } else {
            self.open_epoch();
        }
    }

    pub(super) fn open_epoch(&mut self) {
        let Role::Leading(leader) = &mut self.role else { return };
        let is_majority = leader.learners.count(|_| true) + 1 >= self.config.majority();
        if leader.stage != LeaderStage::Inviting || !is_majority {
            return;
        }
        let own = self.store.epochs();
        leader.epoch = own.accepted.max(leader.learners.accepted_max()).saturating_add(1);
        leader.stage = LeaderStage::Confirming;
        let epochs = Epochs { accepted: leader.epoch, ..own };
        self.store.set_epochs(epochs, &mut self.out.list);
        leader.learners.send(|_| true, &Message::LeaderInfo { epoch: leader.epoch }, &mut self.out);
    }

    pub(super) fn synchronise(&mut self) {
        let Role::Leading(leader) = &mut self.role else { return };
        let is_majority = leader.learners.count(|one| one.counts()) + 1 >= self.config.majority();
        if leader.stage != LeaderStage::Confirming || !is_majority {
            return;
        }
        leader.stage = LeaderStage::Synchronising;
        leader.last_proposed = i64::from(leader.epoch) << 32;
        let epochs = Epochs { current: leader.epoch, accepted: leader.epoch };
        let zxid = self.store.last_logged();
        let vote = Vote { epoch: leader.epoch, zxid, leader: self.config.me };
        self.election.settle(vote);
        self.store.set_epochs(epochs, &mut self.out.list);
        self.store.sync(&mut self.out.list);
        let Role::Leading(leader) = &self.role else { return };
        let confirmed = leader.learners.at(LearnerStage::Confirmed);
        confirmed.into_iter().for_each(|connection| self.synchronise_learner(connection));
    }

    pub(super) fn establish_epoch(&mut self) {
        let Role::Leading(leader) = &self.role else { return };
        let is_safe = self.store.synced() >= self.store.last_logged();
        let level = leader.learners.count(|one| one.stage == LearnerStage::Level);
        if leader.stage == LeaderStage::Synchronising
            && is_safe
            && level + 1 >= self.config.majority()
        {
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
        leader.stage = LeaderStage::Serving;
        leader.sessions = Sessions::new(&self.store.tree.sessions, tick_ms, now_ms);
        leader.last_proposed = leader.last_proposed.max(self.store.last_logged());
        leader.half_tick_at = now_ms + tick_ms / 2;
        leader.containers_at = now_ms + CONTAINERS_MS;
    }

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
        let outstanding_changes = &mut leader.outstanding_changes;
        let tree = &self.store.tree;
        let mut preparation = Preparation { tree, outstanding_changes, zxid, time_ms, session };
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
        leader.learners.send(|one| one.stage >= LearnerStage::Sent, &message, &mut self.out);
        self.store.append(transaction, &mut self.out.list);
        self.store.sync(&mut self.out.list);
    }

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
            leader.learners.send(|one| one.stage >= LearnerStage::Sent, &message, &mut self.out);
            self.apply(zxid);
            let syncs = proposal.into_iter().flat_map(|proposal| proposal.syncs);
            syncs.for_each(|sync| self.answer_sync(sync));
        }
    }

    pub(super) fn proposed(&self) -> &[Transaction] {
        self.store.logged_after(self.store.tree.zxid).unwrap_or_default()
    }

    pub(super) fn leader_synced(&mut self) {
        self.establish_epoch();
        self.commit();
    }

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
        leader.learners.send(|one| one.id == through, &message, &mut self.out);
    }

    pub(crate) fn wake_leader(&mut self) {
        let now_ms = self.now_ms();
        let Role::Leading(leader) = &mut self.role else { return };
        if leader.stage < LeaderStage::Serving && leader.give_up_at <= now_ms {
            return self.start_election();
        }
        if !self.config.is_alone() && leader.half_tick_at <= now_ms {
            self.half_tick(now_ms);
        }
        self.expire_sessions(now_ms);
        self.delete_containers(now_ms);
    }

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
            return self.start_election();
        }
        leader.learners.send(|one| one.stage >= LearnerStage::Sent, &Message::Ping, &mut self.out);
    }

    fn expire_sessions(&mut self, now_ms: u64) {
        let Role::Leading(leader) = &mut self.role else { return };
        if !leader.is_serving() {
            return;
        }
        for session in leader.sessions.expire(now_ms) {
            let kind = Kind::CloseSession;
            let request = Request { session, cxid: 0, kind };
            self.take(&request, self.config.me);
        }
    }

    fn delete_containers(&mut self, now_ms: u64) {
        let Role::Leading(leader) = &mut self.role else { return };
        if !leader.is_serving() || leader.containers_at > now_ms {
            return;
        }
        leader.containers_at = now_ms + CONTAINERS_MS;
        let deserted: Vec<String> = self.store.tree.empty_containers().cloned().collect();
        for path in deserted {
            let kind = Kind::DeleteContainer(path);
            let request = Request { session: 0, cxid: 0, kind };
            self.take(&request, self.config.me);
        }
    }
}
