//! All inputs of one run.

use crate::hosts::coordinators::{Entry, entry};
use crate::setup::scenario::Scenario;
use fencepost_clients::Definition;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, FaultPlan, Micros, Seed};
use std::rc::Rc;

/// All inputs of one run.
#[derive(Clone)]
pub struct RunSpec {
    /// The seed of every draw.
    pub seed: Seed,
    /// The lock.
    pub client: &'static Definition,
    /// The families that the plan was drawn from.
    pub families: Families,
    /// Includes the lengths that the seed drew if the families are a swarm.
    pub scenario: Rc<Scenario>,
    /// The fault plan.
    pub plan: FaultPlan,
}

impl RunSpec {
    /// The servers that the run needs.
    pub fn topology(&self) -> Topology {
        self.scenario.topology(self.client, &self.families)
    }

    /// Returns whether the run has unmodified binaries: it is slow, and two runs may differ.
    pub(crate) fn is_traced(&self) -> bool {
        !self.scenario.binaries.is_empty() || self.scenario.program(self.client).is_some()
    }

    pub(super) fn coordinator(&self) -> &'static Entry {
        entry(self.client.deployment.coordinator())
    }

    /// A server keeps a silent lock for this long.
    pub(super) fn lease(&self) -> Micros {
        (self.coordinator().lease)(self.scenario.ttl.0)
    }
}
