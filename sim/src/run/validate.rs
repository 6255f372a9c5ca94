//! Validates runs before they are made.

use super::fit::{Incompatible, fits};
use super::spec::RunSpec;
use fencepost_faults::Node;

/// The reason why a run is invalid.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidRun {
    /// The scenario, the lock and the faults are incompatible.
    #[error(transparent)]
    Unfit(#[from] Incompatible),
    /// The plan names a node outside the deployment.
    #[error(
        "fault {fault} of the plan names {node}, which is not in the deployment: expected one of \
         {valid}"
    )]
    UnknownNode {
        /// Id of the fault in the plan.
        fault: u32,
        /// Name of the unknown node.
        node: Node,
        /// The nodes of the deployment.
        valid: String,
    },
    /// A fault of the plan lasts longer than 100 days.
    #[error("fault {fault} of the plan lasts longer than 100 days: expected at most 100 days")]
    Beyond {
        /// Id of the fault in the plan.
        fault: u32,
    },
    /// Two faults of the plan collide.
    #[error(
        "faults {earlier} and {later} of the plan have the same effect on the same node at the \
         same time: expected one after the other"
    )]
    Collision {
        /// Id of the earlier fault.
        earlier: u32,
        /// Id of the later fault.
        later: u32,
    },
}

impl RunSpec {
    /// Checks that the lock fits the scenario, and the plan the deployment.
    pub fn validate(&self) -> Result<(), InvalidRun> {
        fits(&self.scenario, self.client, &self.families)?;
        if let Some(fault) = self.plan.beyond() {
            return Err(InvalidRun::Beyond { fault });
        }
        let targets = self.scenario.setting(self.topology()).targets();
        if let Some((fault, node)) = self.plan.unknown_node(&targets) {
            let names: Vec<String> = targets.iter().map(ToString::to_string).collect();
            return Err(InvalidRun::UnknownNode { fault, node, valid: names.join(", ") });
        }
        match self.plan.collision() {
            Some((earlier, later)) => {
                Err(InvalidRun::Collision { earlier: earlier.id, later: later.id })
            }
            None => Ok(()),
        }
    }
}
