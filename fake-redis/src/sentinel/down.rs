//! When an instance is down: in our own eyes, and in those of enough Sentinels.

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
    /// Since when the instance has been silent: since the first unanswered PING, or since its last
    /// answer if there is no connection on which to ask.
    fn silent_since(&self) -> Option<i64> {
        self.ping_pending_since.or_else(|| self.disconnected.then_some(self.last_available))
    }
}

impl Instance {
    /// From when on it counts as down, as far as is known now; `i64::MAX` for not at all.
    ///
    /// It is silent for longer than it may be, or it is monitored as a primary and has been calling
    /// itself a replica for that long and two INFO periods more.
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

    /// When the command connection, if there is one, is to be given up for a fresh one: it is old
    /// enough, and PING has gone unanswered for half of the time that makes the instance down.
    pub(crate) fn command_stale_from(&self) -> i64 {
        match (&self.link.command, self.link.ping_pending_since) {
            (Some(_), Some(since)) => {
                let silent = since.max(self.link.last_pong) + self.down_after_ms / 2;
                silent.max(self.link.command_since + period::LINK_MS_MIN) + 1
            }
            _ => i64::MAX,
        }
    }

    /// When the subscribed connection, if there is one, is to be given up: it is old enough, and
    /// not even our own hello came over it.
    pub(crate) fn pubsub_stale_from(&self) -> i64 {
        if self.link.pubsub.is_none() {
            return i64::MAX;
        }
        let silent = self.link.pubsub_activity + 3 * period::PUBLISH_MS;
        silent.max(self.link.pubsub_since + period::LINK_MS_MIN) + 1
    }

    /// Gives up connections that seem dead and decides whether the instance is down
    /// (`sentinelCheckSubjectivelyDown`). Returns the event to be told, if that has changed.
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

/// Checks the primary, and tells what has changed.
pub(crate) fn check_master(master: &mut Master, context: &mut Context<'_>) {
    if let Some(channel) = master.node.check_down(context) {
        context.core.event(channel, name_master(&master.node));
    }
}

/// Checks one of the others, and tells what has changed.
pub(crate) fn check_other(instance: &mut Instance, master: &Instance, context: &mut Context<'_>) {
    if let Some(channel) = instance.check_down(context) {
        context.core.event(channel, name_instance(instance, master));
    }
}

/// Which of the other Sentinels are asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Urgency {
    /// Those who were not asked lately.
    WhenDue,
    /// All of them.
    Urgent,
}

impl Master {
    /// How many Sentinels find the primary down, us included; 0 if we do not.
    pub(crate) fn votes_for_down(&self) -> usize {
        let others = self.sentinels.iter().filter(|sentinel| sentinel.opinion.master_down).count();
        if self.node.subjectively_down { 1 + others } else { 0 }
    }

    /// Decides whether the primary is objectively down (`sentinelCheckObjectivelyDown`).
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

    /// Asks the other Sentinels whether they find the primary down, and for their vote if we want
    /// to replace it (`sentinelAskMasterStateToOtherSentinels`). An urgent question
    /// goes to those who have answered a moment ago, too.
    ///
    /// Where Redis repeats an unanswered question at every tick, this waits a second before it
    /// repeats one.
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
                "SENTINEL",
                "is-master-down-by-addr",
                &self.node.address.host,
                &port,
                &epoch,
                candidate,
            ];
            if sentinel.link.command(&question.map(str::as_bytes), Expected::MasterDown) {
                sentinel.link.ask_pending_since = Some(now);
            }
        }
    }
}

impl super::instance::Opinion {
    /// From when on what the Sentinel said is too old to count.
    pub(crate) fn outdated_from(&self) -> i64 {
        self.replied_at + 5 * period::ASK_MS + 1
    }
}

impl Instance {
    /// When another Sentinel is to be asked again, as long as the primary is down in our eyes.
    pub(crate) fn ask_due(&self) -> i64 {
        let retry = self.link.ask_pending_since.map_or(0, |since| since + period::ASK_MS);
        retry.max(self.opinion.replied_at + period::ASK_MS)
    }

    /// Takes the answer (`sentinelReceiveIsMasterDownReply`); anything unexpected is ignored and
    /// times out.
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
