//! The complete inputs of one run ([`RunSpec`]).

use crate::hosts::coordinators::{Entry, entry};
use crate::setup::scenario::Scenario;
use fencepost_clients::Definition;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, FaultPlan, Micros, Seed};
use std::rc::Rc;

#[derive(Clone)]
pub struct RunSpec {
    pub seed: Seed,
    pub client: &'static Definition,
    /// Families from which the seed drew the plan. They also determine the servers.
    pub families: Families,
    /// Includes the lengths that the seed drew for the family `all`.
    pub scenario: Rc<Scenario>,
    pub plan: FaultPlan,
}

impl RunSpec {
    pub fn topology(&self) -> Topology {
        self.scenario.topology(self.client, &self.families)
    }

    pub(crate) fn is_traced(&self) -> bool {
        self.scenario.is_traced(self.client)
    }

    pub(super) fn coordinator(&self) -> &'static Entry {
        entry(self.client.deployment.coordinator())
    }

    pub(super) fn lease(&self) -> Micros {
        (self.coordinator().lease)(self.scenario.ttl.0)
    }
}
