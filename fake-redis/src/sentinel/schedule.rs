//! Computes when Sentinel must next check its instances. Each rule returns the earliest time at
//! which it would act. An early time only costs a wake-up; a late time delays an action.

use super::{
    attempt::Step,
    core::Core,
    instance::{Instance, Watch},
    master::Master,
    period,
};

/// Maximum sleep in milliseconds. It bounds the effect of an error in these rules.
const SLEEP_MS_MAX: i64 = 1_000;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) enum Touched {
    Nothing,
    /// Only the instance with this index in `Master::instances` has changed.
    One(usize),
    #[default]
    Everything,
}

impl Touched {
    pub(crate) fn add(&mut self, place: usize) {
        *self = match *self {
            Touched::Nothing => Touched::One(place),
            Touched::One(other) if other == place => *self,
            Touched::One(_) | Touched::Everything => Touched::Everything,
        };
    }
}

/// Cached deadlines, because most inputs change the deadline of only one instance.
#[derive(Default, Debug)]
pub(crate) struct Schedule {
    instances: Vec<i64>,
    others: i64,
    known_at: Option<i64>,
}

impl Schedule {
    pub(crate) fn next_due(&mut self, core: &Core, masters: &[Master], touched: Touched) -> i64 {
        if core.attention {
            self.known_at = None;
            return core.now;
        }
        let due = match (masters, touched) {
            ([master], Touched::Nothing | Touched::One(_))
                if self.known_at.is_some_and(|at| at <= core.now) =>
            {
                if let Touched::One(place) = touched
                    && let Some(instance) = master.instances().nth(place)
                {
                    self.instances[place] = instance_due(core, instance, master.watch());
                }
                let due = self.instances.iter().fold(self.others, |due, one| due.min(*one));
                // Release builds omit this check, because it costs as much as having no cache.
                if cfg!(any(test, debug_assertions)) {
                    let all = all_due(core, masters);
                    assert_eq!(due, all, "the stored schedule equals the calculated one");
                }
                due
            }
            ([master], _) => self.compute_schedule(core, master),
            _ => all_due(core, masters),
        };
        self.known_at = (due > core.now && masters.len() == 1).then_some(core.now);
        due.min(core.now + SLEEP_MS_MAX)
    }

    fn compute_schedule(&mut self, core: &Core, master: &Master) -> i64 {
        let watch = master.watch();
        self.others = others_due(core, master);
        self.instances.clear();
        self.instances
            .extend(master.instances().map(|instance| instance_due(core, instance, watch)));
        self.instances.iter().fold(self.others, |due, one| due.min(*one))
    }
}

fn all_due(core: &Core, masters: &[Master]) -> i64 {
    let due = |master: &Master| {
        let watch = master.watch();
        let instances = master.instances().map(|instance| instance_due(core, instance, watch));
        instances.fold(others_due(core, master), i64::min)
    };
    masters.iter().map(due).min().unwrap_or(i64::MAX)
}

fn others_due(core: &Core, master: &Master) -> i64 {
    match core.tilt_since {
        Some(since) => since + period::TILT_MS,
        None => failover_due(master, core.now).min(ask_due(master)),
    }
}

fn instance_due(core: &Core, instance: &Instance, watch: Watch) -> i64 {
    let monitoring = monitoring_due(instance, watch);
    if core.tilt_since.is_some() {
        monitoring
    } else {
        monitoring.min(check_due(instance, core.now))
    }
}

fn monitoring_due(instance: &Instance, watch: Watch) -> i64 {
    if instance.link.disconnected {
        return instance.link.last_reconnect + period::PING_MS;
    }
    instance.info_due(watch).min(instance.ping_due()).min(instance.hello_due())
}

fn check_due(instance: &Instance, now: i64) -> i64 {
    let down_from = instance.down_from();
    let change = match (instance.subjectively_down, down_from <= now) {
        (true, true) => i64::MAX,
        (true, false) => now,
        (false, _) => down_from,
    };
    change.min(instance.command_stale_from()).min(instance.pubsub_stale_from())
}

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
