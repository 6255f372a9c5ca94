//! The fault plan: everything that will go wrong in a run. Must never know how it was drawn or how it is fired.

use crate::fault::Fault;
use crate::node::Node;
use crate::time::SimTime;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A fault and when it begins. The end is the fault's own.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TimedFault {
    /// Names the fault within its plan; shrinking keeps the ids of the faults that stay.
    pub id: u32,
    /// When it begins, in true time.
    pub at_us: SimTime,
    /// What happens.
    pub fault: Fault,
}

/// Everything that will go wrong in one run.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct FaultPlan {
    /// Sorted by start, then id.
    pub faults: Vec<TimedFault>,
}

impl TimedFault {
    /// When the fault ends by itself; its own start if it happens at once, `None` if it never ends.
    pub fn ends_at(&self) -> Option<SimTime> {
        match (&self.fault, self.fault.duration()) {
            (Fault::Crash { .. } | Fault::PowerLoss { .. }, None) => None,
            (_, duration) => Some(self.at_us + duration.unwrap_or_default()),
        }
    }
}

impl FaultPlan {
    /// A plan of these faults, in canonical order.
    pub fn new(mut faults: Vec<TimedFault>) -> FaultPlan {
        faults.sort_by_key(|timed| (timed.at_us, timed.id));
        FaultPlan { faults }
    }

    /// The instant by which every fault that ends has ended.
    pub fn ends_at(&self) -> SimTime {
        self.faults.iter().filter_map(|timed| timed.ends_at().or(Some(timed.at_us))).max().unwrap_or(SimTime::ZERO)
    }

    /// The first node named by the plan that is not in the deployment, with the id of the fault that names it.
    pub fn stranger(&self, deployment: &[Node]) -> Option<(u32, Node)> {
        self.faults.iter().find_map(|timed| {
            let node = timed.fault.nodes().into_iter().find(|node| !deployment.contains(node))?;
            Some((timed.id, node))
        })
    }
}
