use crate::config::MemberId;
use crate::member::learners::{Learner, Stage};
use crate::member::message::{Message, Progress};
use crate::member::stage::LeaderStage;
use crate::server::{Role, ZooKeeper};
use fencepost_machine::ConnectionId;

impl ZooKeeper {
    pub(crate) fn learner_lost(&mut self, connection: ConnectionId) {
        if let Role::Leading(leader) = &mut self.role {
            leader.learners.learners.remove(&connection);
        }
    }

    pub(super) fn handle_learner_message(
        &mut self,
        connection: ConnectionId,
        from: MemberId,
        message: Message,
    ) -> bool {
        let now_ms = self.now_ms();
        if let Message::FollowerInfo { accepted } = message {
            return self.admit_learner(connection, from, accepted);
        }
        let Role::Leading(leader) = &mut self.role else { return false };
        let Some(learner) = leader.learners.learners.get_mut(&connection) else { return false };
        learner.heard_at = now_ms;
        match (message, learner.stage) {
            (Message::AckEpoch { current, is_new, progress }, Stage::Informed) => {
                (learner.is_new, learner.progress) = (is_new, progress);
                learner.stage = Stage::Confirmed;
                self.epoch_accepted(connection, current, progress);
            }
            (Message::AckNewLeader, Stage::Sent) => {
                learner.stage = Stage::Level;
                self.establish_epoch();
            }
            (Message::Ack { zxid }, Stage::Level | Stage::Admitted) => {
                learner.acked = learner.acked.max(zxid);
                self.commit();
            }
            (Message::Pong { touched }, Stage::Sent | Stage::Level | Stage::Admitted) => {
                for (session, timeout_ms) in touched {
                    leader.touch(session, timeout_ms, now_ms);
                }
            }
            (Message::Forward(request), Stage::Admitted) => self.take(&request, from),
            (Message::Sync { session, cxid }, Stage::Admitted) => {
                self.take_sync(from, session, cxid);
            }
            (Message::Revalidate { session, timeout_ms }, Stage::Admitted) => {
                let is_valid = leader.revalidate(session, timeout_ms, now_ms, from);
                let answer = Message::Revalidated { session, is_valid };
                self.send(connection, answer.encode());
            }
            _ => return false,
        }
        true
    }

    fn admit_learner(&mut self, connection: ConnectionId, id: MemberId, accepted: u32) -> bool {
        let heard_at = self.now_ms();
        let Role::Leading(leader) = &mut self.role else { return false };
        let earlier = leader.learners.learners.iter().find(|(_, learner)| learner.id == id);
        let earlier = earlier.map(|(connection, _)| *connection);
        let progress = Progress { last: 0, base: 0 };
        let stage = Stage::Informed;
        let learner = Learner { id, stage, accepted, is_new: false, progress, acked: -1, heard_at };
        leader.learners.learners.insert(connection, learner);
        if let Some(earlier) = earlier.filter(|earlier| *earlier != connection) {
            leader.learners.learners.remove(&earlier);
            self.hang_up(earlier);
        }
        let Role::Leading(leader) = &self.role else { return false };
        if leader.stage() == LeaderStage::Inviting {
            self.open_epoch();
        } else {
            let message = Message::LeaderInfo { epoch: leader.epoch() };
            self.send(connection, message.encode());
        }
        true
    }

    /// Starts an election if the epoch is not confirmed yet and the learner has a newer history.
    fn epoch_accepted(&mut self, connection: ConnectionId, current: u32, progress: Progress) {
        let Role::Leading(leader) = &self.role else { return };
        match leader.stage() {
            LeaderStage::Inviting => {}
            LeaderStage::Confirming => {
                let own = (self.store.epochs().current, self.store.last_logged());
                if (current, progress.last) > own {
                    return self.start_election();
                }
                self.synchronise();
            }
            LeaderStage::Synchronising | LeaderStage::Serving => {
                self.synchronise_learner(connection)
            }
        }
    }

    pub(super) fn synchronise_learner(&mut self, connection: ConnectionId) {
        let Role::Leading(leader) = &mut self.role else { return };
        let epoch = leader.epoch();
        let Some(learner) = leader.learners.learners.get_mut(&connection) else { return };
        learner.stage = Stage::Sent;
        let Progress { last, base } = learner.progress;
        let common = self.store.last_up_to(last).filter(|common| *common >= base);
        let mut messages = Vec::new();
        let history = common.and_then(|common| self.store.logged_after(common));
        let committed = self.store.tree.zxid;
        match (history, common) {
            (Some(history), Some(common)) if common <= committed => {
                if common < last {
                    messages.push(Message::Truncate { zxid: common });
                }
                let history = history.iter().filter(|one| one.zxid <= committed);
                messages.extend(history.cloned().map(Message::Committed));
            }
            _ => messages.push(Message::Snapshot(Box::new(self.store.tree.clone()))),
        }
        messages.extend(self.proposed().iter().cloned().map(Message::Proposal));
        messages.push(Message::NewLeader { epoch });
        for message in messages {
            self.send(connection, message.encode());
        }
    }
}
