use super::{
    core::{Context, Core},
    events::{name_instance, name_master},
    instance::{Instance, Kind},
    link::{Expected, Link},
    master::Master,
    period,
};
use redis_protocol::resp2::types::BytesFrame;

impl Link {
    fn silent_since(&self) -> Option<i64> {
        self.ping_pending_since.or_else(|| self.disconnected.then_some(self.last_available))
    }
}

impl Instance {
    /// Returns the time from which the instance counts as down, or `i64::MAX`. A primary that
    /// reports the role of a replica counts as down after `down_after_ms` and two INFO periods.
    pub(crate) fn down_from(&self) -> i64 {
        let silent =
            self.link.silent_since().map_or(i64::MAX, |since| since + self.down_after_ms + 1);
        let demoted = if self.kind == Kind::Master && self.role_reported == Kind::Replica {
            self.role_reported_since + self.down_after_ms + 2 * period::INFO_MS + 1
        } else {
            i64::MAX
        };
        silent.min(demoted)
    }

    /// Returns when an unanswered PING makes the command connection stale, or `i64::MAX`.
    pub(crate) fn command_stale_from(&self) -> i64 {
        match (&self.link.command, self.link.ping_pending_since) {
            (Some(_), Some(since)) => {
                let silent = since.max(self.link.last_pong) + self.down_after_ms / 2;
                silent.max(self.link.command_since + period::LINK_MS_MIN) + 1
            }
            _ => i64::MAX,
        }
    }

    /// Returns when missing hellos (even own ones) make the subscription stale, or `i64::MAX`.
    pub(crate) fn pubsub_stale_from(&self) -> i64 {
        if self.link.pubsub.is_none() {
            return i64::MAX;
        }
        let silent = self.link.pubsub_activity + 3 * period::PUBLISH_MS;
        silent.max(self.link.pubsub_since + period::LINK_MS_MIN) + 1
    }

    /// Closes stale connections. Returns `+sdown` or `-sdown` if the state has changed
    /// (`sentinelCheckSubjectivelyDown`).
    pub(crate) fn check_down(&mut self, context: &mut Context<'_>) -> Option<&'static str> {
        let now = context.core.now;
        let down = self.down_from() <= now;
        if self.command_stale_from() <= now {
            self.link.close_command(context.out);
        }
        if self.pubsub_stale_from() <= now {
            self.link.close_pubsub(context.out);
        }
        if down == self.subjectively_down {
            return None;
        }
        self.subjectively_down = down;
        if down {
            self.down_since = now;
        } else {
            self.script_kill_sent = false;
        }
        Some(if down { "+sdown" } else { "-sdown" })
    }
}

pub(crate) fn check_master(master: &mut Master, context: &mut Context<'_>) {
    if let Some(channel) = master.node.check_down(context) {
        context.core.event(channel, name_master(&master.node));
    }
}

pub(crate) fn check_other(instance: &mut Instance, master: &Instance, context: &mut Context<'_>) {
    if let Some(channel) = instance.check_down(context) {
        context.core.event(channel, name_instance(instance, master));
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Urgency {
    WhenDue,
    Urgent,
}

impl Master {
    pub(crate) fn votes_for_down(&self) -> usize {
        let others = self.sentinels.iter().filter(|sentinel| sentinel.opinion.master_down).count();
        if self.node.subjectively_down { 1 + others } else { 0 }
    }

    pub(crate) fn check_objectively_down(&mut self, core: &mut Core) {
        let votes = self.votes_for_down();
        let down = votes >= self.quorum;
        if down == self.objectively_down {
            return;
        }
        self.objectively_down = down;
        if down {
            self.objectively_down_since = core.now;
            core.event(
                "+odown",
                format!("{} #quorum {votes}/{}", name_master(&self.node), self.quorum),
            );
        } else {
            core.event("-odown", name_master(&self.node));
        }
    }

    /// Discards outdated opinions, then asks the other Sentinels about a primary that seems down
    /// (`sentinelAskMasterStateToOtherSentinels`).
    pub(crate) fn ask_others(&mut self, urgency: Urgency, core: &Core) {
        let now = core.now;
        let (port, epoch) = (self.node.address.port.to_string(), core.epoch.to_string());
        let candidate = if self.failover.in_progress() { core.my_id.as_str() } else { "*" };
        for sentinel in &mut self.sentinels {
            if sentinel.opinion.outdated_from() <= now {
                sentinel.opinion.master_down = false;
                sentinel.opinion.leader = None;
            }
            let due = urgency == Urgency::Urgent || sentinel.ask_due() <= now;
            if !self.node.subjectively_down || sentinel.link.disconnected || !due {
                continue;
            }
            let question = [
                "SENTINEL", "is-master-down-by-addr", &self.node.address.host, &port, &epoch,
                candidate,
            ];
            if sentinel.link.command(&question.map(str::as_bytes), Expected::MasterDown) {
                sentinel.link.ask_pending_since = Some(now);
            }
        }
    }
}

impl super::instance::Opinion {
    pub(crate) fn outdated_from(&self) -> i64 {
        self.replied_at + 5 * period::ASK_MS + 1
    }
}

impl Instance {
    pub(crate) fn ask_due(&self) -> i64 {
        let retry = self.link.ask_pending_since.map_or(0, |since| since + period::ASK_MS);
        retry.max(self.opinion.replied_at + period::ASK_MS)
    }

    /// Records the opinion in a reply, if it is valid (`sentinelReceiveIsMasterDownReply`).
    pub(crate) fn take_opinion(&mut self, reply: &BytesFrame, now: i64) {
        self.link.ask_pending_since = None;
        let BytesFrame::Array(elements) = reply else { return };
        let [down, BytesFrame::BulkString(leader), epoch] = elements.as_slice() else { return };
        let (BytesFrame::Integer(down), BytesFrame::Integer(epoch)) = (down, epoch) else {
            return;
        };
        self.opinion.replied_at = now;
        self.opinion.master_down = *down == 1;
        if leader.as_ref() != b"*" {
            self.opinion.leader = Some(String::from_utf8_lossy(leader).into_owned());
            self.opinion.leader_epoch = u64::try_from(*epoch).unwrap_or(0);
        }
    }
}
