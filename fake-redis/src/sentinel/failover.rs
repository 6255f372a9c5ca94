//! The state machine of a failover (`sentinelFailoverStateMachine`).

use super::{
    attempt::Step,
    core::Core,
    events::{name_instance, name_master},
    master::Master,
    period,
};

impl Master {
    pub(crate) fn failover_allowed_from(&self) -> i64 {
        self.failover.started + 2 * self.failover_timeout_ms
    }

    pub(crate) fn start_failover_if_needed(&mut self, core: &mut Core) -> bool {
        let wanted = self.objectively_down
            && !self.failover.in_progress()
            && self.failover_allowed_from() <= core.now;
        if wanted {
            self.start_failover(core);
        }
        wanted
    }

    pub(crate) fn start_failover(&mut self, core: &mut Core) {
        core.raise_epoch(core.epoch + 1);
        core.event("+try-failover", name_master(&self.node));
        self.failover.epoch = core.epoch;
        self.failover.started = core.now + core.draw_below(period::DESYNC_MS_MAX);
        self.failover.enter(Step::WaitStart, core.now);
        core.attention = true;
    }

    pub(crate) fn step_failover(&mut self, core: &mut Core) {
        match self.failover.step {
            Step::None | Step::UpdateConfig => {}
            Step::WaitStart => self.wait_start(core),
            Step::SelectReplica => self.choose_replica(core),
            Step::SendSlaveofNoOne => self.promote(core),
            Step::WaitPromotion => self.abort_if_slow(core),
            Step::ReconfigureReplicas => self.reconfigure_next(core),
        }
    }

    pub(crate) fn election_ends(&self) -> i64 {
        self.failover.started + self.failover_timeout_ms.min(period::ELECTION_MS) + 1
    }

    fn wait_start(&mut self, core: &mut Core) {
        let leader = self.leader(self.failover.epoch, core);
        let elected = leader.is_some_and(|leader| leader.eq_ignore_ascii_case(&core.my_id));
        if elected || self.failover.forced {
            core.event("+elected-leader", name_master(&self.node));
            self.failover.enter(Step::SelectReplica, core.now);
            core.event("+failover-state-select-slave", name_master(&self.node));
            core.attention = true;
        } else if self.election_ends() <= core.now {
            self.abort("-failover-abort-not-elected", core);
        }
    }

    fn choose_replica(&mut self, core: &mut Core) {
        let Some(place) = self.select_replica(core.now) else {
            return self.abort("-failover-abort-no-good-slave", core);
        };
        self.replicas[place].promoted = true;
        let name = name_instance(&self.replicas[place], &self.node);
        core.event("+selected-slave", name.clone());
        self.failover.enter(Step::SendSlaveofNoOne, core.now);
        core.event("+failover-state-send-slaveof-noone", name);
        core.attention = true;
    }

    /// Orders the selected replica to become a primary. A later INFO from the replica confirms the
    /// promotion (`sentinelFailoverSendSlaveOfNoOne`).
    fn promote(&mut self, core: &mut Core) {
        let Some(replica) = self.replicas.iter_mut().find(|replica| replica.promoted) else {
            return self.abort("-failover-abort-no-good-slave", core);
        };
        if replica.link.disconnected || !replica.send_slaveof(None) {
            return self.abort_if_slow(core);
        }
        core.event("+failover-state-wait-promotion", name_instance(replica, &self.node));
        self.failover.enter(Step::WaitPromotion, core.now);
    }

    fn abort_if_slow(&mut self, core: &mut Core) {
        if self.step_ends() <= core.now {
            self.abort("-failover-abort-slave-timeout", core);
        }
    }

    fn abort(&mut self, event: &'static str, core: &mut Core) {
        assert!(!self.failover.promotion_seen(), "{:?} can only be completed", self.failover.step);
        core.event(event, name_master(&self.node));
        self.failover.forced = false;
        self.failover.enter(Step::None, core.now);
        self.replicas.iter_mut().for_each(|replica| replica.promoted = false);
    }
}
