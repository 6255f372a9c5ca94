//! Reconfigures the remaining replicas after a promotion, and ends the failover.

use super::{
    Address,
    attempt::Step,
    core::{Context, Core},
    events::{name_instance, switch_text},
    instance::{Instance, Reconfigured},
    master::Master,
    period,
};

impl Instance {
    fn reconfiguring(&self) -> bool {
        matches!(self.reconfigured, Reconfigured::Sent | Reconfigured::InProgress)
    }

    pub(crate) fn reconfigure_ends(&self) -> i64 {
        match self.reconfigured {
            Reconfigured::Sent => self.reconfigure_sent + period::RECONFIGURE_MS + 1,
            _ => i64::MAX,
        }
    }

    fn unfinished(&self) -> bool {
        !self.promoted && self.reconfigured != Reconfigured::Done
    }

    fn reconfigure(
        &mut self,
        new: &Address,
        event: &'static str,
        master: &Instance,
        core: &mut Core,
    ) -> bool {
        if self.link.disconnected || !self.send_slaveof(Some(new)) {
            return false;
        }
        self.reconfigured = Reconfigured::Sent;
        core.event(event, name_instance(self, master));
        true
    }
}

impl Master {
    pub(crate) fn reconfigure_next(&mut self, core: &mut Core) {
        let Some(new) = self.promoted().map(|replica| replica.address.clone()) else { return };
        let mut in_progress =
            self.replicas.iter().filter(|replica| replica.reconfiguring()).count();
        for replica in &mut self.replicas {
            if in_progress >= self.parallel_syncs {
                break;
            }
            if !replica.unfinished() {
                continue;
            }
            if replica.reconfigure_ends() <= core.now {
                core.event("-slave-reconf-sent-timeout", name_instance(replica, &self.node));
                replica.reconfigured = Reconfigured::Done;
            }
            // As in Redis, send SLAVEOF again to a replica whose reconfiguration has timed out.
            if !replica.reconfiguring()
                && replica.reconfigure(&new, "+slave-reconf-sent", &self.node, core)
            {
                replica.reconfigure_sent = core.now;
                in_progress += 1;
            }
        }
        self.detect_end(&new, core);
    }

    fn detect_end(&mut self, new: &Address, core: &mut Core) {
        if self.promoted().is_none_or(|replica| replica.subjectively_down) {
            return;
        }
        let timed_out = self.step_ends() <= core.now;
        if timed_out {
            core.event("+failover-end-for-timeout", super::events::name_master(&self.node));
        }
        if !timed_out
            && self
                .replicas
                .iter()
                .any(|replica| replica.unfinished() && !replica.subjectively_down)
        {
            return;
        }
        core.event("+failover-end", super::events::name_master(&self.node));
        self.failover.enter(Step::UpdateConfig, core.now);
        if timed_out {
            for replica in self.replicas.iter_mut().filter(|replica| replica.unfinished()) {
                if replica.reconfigured != Reconfigured::Sent {
                    replica.reconfigure(new, "+slave-reconf-sent-be", &self.node, core);
                }
            }
        }
    }

    pub(crate) fn switch_to_promoted(&mut self, context: &mut Context<'_>) {
        let new = self
            .promoted()
            .map_or_else(|| self.node.address.clone(), |replica| replica.address.clone());
        context.core.event("+switch-master", switch_text(&self.node, &new));
        self.replicas.iter_mut().for_each(|replica| replica.link.flush(context.out));
        self.change_address(new, context);
    }
}
