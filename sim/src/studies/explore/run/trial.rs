use crate::engine::{Engine, EngineError};
use crate::studies::explore::plan::base::Base;
use crate::studies::explore::plan::bounds::Bounds;
use fencepost_faults::{FaultPlan, Node};
use fencepost_reports::{Action, History, Verdict, What, digest, judge};
use std::collections::BTreeSet;

pub(crate) struct Trial {
    pub(crate) verdict: Verdict,
    pub(crate) fired: bool,
    pub(crate) contended: bool,
    pub(crate) digest: String,
}

pub(crate) fn trial(bounds: &Bounds, base: &Base, plan: &FaultPlan) -> Result<Trial, EngineError> {
    let outcome = bounds.spec(base, plan.clone()).run(Engine::Fast)?;
    let history = &outcome.history;
    Ok(Trial {
        verdict: judge(history).verdict,
        fired: history.events.iter().any(|event| matches!(event.what, What::FaultBegan { .. })),
        contended: holders(history).len() > 1,
        digest: digest(history),
    })
}

fn holders(history: &History) -> BTreeSet<Node> {
    let mut acquires = BTreeSet::new();
    let mut holders = BTreeSet::new();
    for event in &history.events {
        match &event.what {
            What::Invoke { operation, action: Action::Acquire } => {
                acquires.insert(*operation);
            }
            What::Ok { operation, .. } if acquires.contains(operation) => {
                holders.insert(event.node.machine());
            }
            _ => {}
        }
    }
    holders.remove(&Node::Probe);
    holders
}
