use crate::fault::Fault;
use crate::node::Node;
use crate::time::{Micros, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A fault with its id and start time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TimedFault {
    /// Number that identifies the fault within its plan. Shrinking a plan keeps the numbers.
    pub id: u32,
    /// Virtual time in microseconds at which the fault begins.
    pub at_us: SimTime,
    /// Kind, target and size of the fault.
    pub fault: Fault,
}

/// Latest time at which a fault may end, including the delay or clock step that it adds: 100 days.
pub const LATEST: SimTime = SimTime(100 * 86_400 * 1_000_000);

/// All planned faults of one run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FaultPlan {
    /// Faults ordered by start time and then by id.
    pub faults: Vec<TimedFault>,
}

impl TimedFault {
    /// Returns the end of the fault, or its start if instantaneous; `None` if it never ends.
    pub fn ends_at(&self) -> Option<SimTime> {
        match (&self.fault, self.fault.duration()) {
            (Fault::Crash { .. } | Fault::PowerLoss { .. }, None) => None,
            (_, duration) => Some(self.at_us + duration.unwrap_or_default()),
        }
    }

    fn reaches(&self) -> SimTime {
        let step = match self.fault {
            Fault::ClockJump { offset_us, .. } => Micros(offset_us.unsigned_abs()),
            Fault::SlowServer { extra_us, .. } => extra_us,
            _ => Micros::ZERO,
        };
        self.ends_at().unwrap_or(self.at_us) + self.fault.linger() + step
    }
}

impl FaultPlan {
    pub fn new(mut faults: Vec<TimedFault>) -> FaultPlan {
        faults.sort_by_key(|timed| (timed.at_us, timed.id));
        FaultPlan { faults }
    }

    pub fn later(mut self, by: Micros) -> FaultPlan {
        self.faults.iter_mut().for_each(|timed| timed.at_us = timed.at_us + by);
        self
    }

    /// Returns when the last fault ends. A fault that never ends counts as ending when it starts.
    pub fn ends_at(&self) -> SimTime {
        self.faults
            .iter()
            .filter_map(|timed| timed.ends_at().or(Some(timed.at_us)))
            .max()
            .unwrap_or(SimTime::ZERO)
    }

    /// Like [`FaultPlan::ends_at`], but adds the maximum delay of a [`Fault::Delay`] to its end.
    pub fn heals_at(&self) -> SimTime {
        let healed =
            |timed: &TimedFault| timed.ends_at().unwrap_or(timed.at_us) + timed.fault.linger();
        self.faults.iter().map(healed).max().unwrap_or(SimTime::ZERO)
    }

    /// Returns the largest sum of backward clock steps on any one server.
    pub fn server_clock_back_max(&self) -> Micros {
        let mut back: BTreeMap<Node, Micros> = BTreeMap::new();
        for timed in &self.faults {
            if let Fault::ClockJump { node, offset_us: offset @ ..0 } = timed.fault
                && node.is_server()
            {
                let sum = back.entry(node).or_default();
                *sum = *sum + Micros(offset.unsigned_abs());
            }
        }
        back.into_values().max().unwrap_or_default()
    }

    /// Returns the id of the first fault that reaches beyond [`LATEST`].
    pub fn beyond(&self) -> Option<u32> {
        self.faults.iter().find(|timed| timed.reaches() > LATEST).map(|timed| timed.id)
    }

    /// Returns the first node in the plan that is not in the deployment, with the id of its fault.
    pub fn unknown_node(&self, deployment: &[Node]) -> Option<(u32, Node)> {
        self.faults.iter().find_map(|timed| {
            let node = timed.fault.nodes().into_iter().find(|node| !deployment.contains(node))?;
            Some((timed.id, node))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reaches_beyond_the_latest_instant_is_named() {
        let node = Node::Client(1);
        let at = |id, at_us, fault| TimedFault { id, at_us: SimTime(at_us), fault };
        let pause = |duration_us| Fault::Pause { node, duration_us: Micros(duration_us) };
        let jump = |offset_us| Fault::ClockJump { node, offset_us };
        let fine = at(1, LATEST.0 - 5, pause(5));
        for (id, at_us, fault) in
            [(2, u64::MAX, pause(u64::MAX)), (3, 0, pause(LATEST.0 + 1)), (4, 0, jump(i64::MIN))]
        {
            let plan = FaultPlan::new(vec![fine.clone(), at(id, at_us, fault)]);
            assert_eq!(plan.beyond(), Some(id));
        }
        assert_eq!(FaultPlan::new(vec![fine]).beyond(), None);
    }
}
