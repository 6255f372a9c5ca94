//! When Sentinel has to look at its instances next. Must never know what it will do then.
//!
//! `sentinelTimer` looks at everything ten to twenty times a second; each rule is here restated as the instant from which on it would
//! act. An instant that is named too early costs a wake-up, one that is named too late would change behaviour.

use super::{core::Core, failover::Step, instance::Instance, master::Master, period};

/// The longest sleep, so that an oversight could only ever cost a second.
const SLEEP_MS_MAX: i64 = 1_000;

/// From when on something is due, in milliseconds of the wall clock.
pub(crate) fn next_due(core: &Core, masters: &[Master]) -> i64 {
    if core.attention {
        return core.now;
    }
    let due = masters.iter().map(|master| master_due(core, master)).min().unwrap_or(i64::MAX);
    due.min(core.now + SLEEP_MS_MAX)
}

fn master_due(core: &Core, master: &Master) -> i64 {
    let in_trouble = master.in_trouble();
    let mut due = match core.tilt_since {
        Some(since) => since + period::TILT_MS,
        None => failover_due(master, core.now).min(ask_due(master)),
    };
    // Gone through at every input of a Sentinel: once, and without a chain of the three.
    let mut look = |instance: &Instance| {
        due = due.min(monitoring_due(instance, in_trouble));
        if core.tilt_since.is_none() {
            due = due.min(check_due(instance, core.now));
        }
    };
    look(&master.node);
    master.replicas.iter().for_each(&mut look);
    master.sentinels.iter().for_each(&mut look);
    due
}

/// When `Instance::reconnect` or `Instance::send_periodic` would act.
fn monitoring_due(instance: &Instance, master_in_trouble: bool) -> i64 {
    if instance.link.disconnected {
        return instance.link.last_reconnect + period::PING_MS;
    }
    instance.info_due(master_in_trouble).min(instance.ping_due()).min(instance.hello_due())
}

/// When `Instance::check_down` would act.
fn check_due(instance: &Instance, now: i64) -> i64 {
    let down_from = instance.down_from();
    let change = match (instance.subjectively_down, down_from <= now) {
        (true, true) => i64::MAX,
        (true, false) => now,
        (false, _) => down_from,
    };
    change.min(instance.command_stale_from()).min(instance.pubsub_stale_from())
}

/// When `Master::check_objectively_down`, `Master::start_failover_if_needed` or `Master::step_failover` would act.
fn failover_due(master: &Master, now: i64) -> i64 {
    let promoted_unreachable = master.promoted().is_none_or(|replica| replica.link.disconnected);
    if (master.votes_for_down() >= master.quorum) != master.objectively_down {
        return now;
    }
    match master.failover.step {
        Step::None if master.objectively_down => master.failover_allowed_from(),
        Step::None => i64::MAX,
        Step::WaitStart if !master.failover.forced => master.election_ends(),
        Step::SendSlaveofNoOne if promoted_unreachable => master.step_ends(),
        Step::WaitPromotion => master.step_ends(),
        Step::WaitStart | Step::SelectReplica | Step::SendSlaveofNoOne => now,
        Step::ReconfigureReplicas | Step::UpdateConfig => now,
    }
}

/// When `Master::ask_others` would act.
fn ask_due(master: &Master) -> i64 {
    let due = |sentinel: &Instance| {
        let opinion = &sentinel.opinion;
        let holds = opinion.master_down || opinion.leader.is_some();
        let outdated = if holds { opinion.outdated_from() } else { i64::MAX };
        let asks = master.node.subjectively_down && !sentinel.link.disconnected;
        if asks { sentinel.ask_due().min(outdated) } else { outdated }
    };
    master.sentinels.iter().map(due).min().unwrap_or(i64::MAX)
}
