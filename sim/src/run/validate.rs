use super::fit::{Incompatible, fits};
use super::spec::RunSpec;
use fencepost_faults::Node;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidRun {
    #[error(transparent)]
    Unfit(#[from] Incompatible),
    #[error(
        "fault {fault} of the plan names {node}, which is not in the deployment: expected one of \
         {valid}"
    )]
    UnknownNode { fault: u32, node: Node, valid: String },
    #[error(
        "fault {fault} of the plan has effects beyond day 100: expected a fault whose effects end \
         within 100 days"
    )]
    Beyond { fault: u32 },
    #[error(
        "faults {earlier} and {later} of the plan have the same effect on the same node at the \
         same time: expected one after the other"
    )]
    Collision { earlier: u32, later: u32 },
}

impl RunSpec {
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
