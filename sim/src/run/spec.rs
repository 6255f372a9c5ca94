use crate::hosts::coordinators::{Entry, entry};
use crate::hosts::real;
use crate::setup::scenario::Scenario;
use crate::world::network;
use fencepost_clients::Definition;
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, FaultPlan, Micros, Seed, SimTime};
use std::rc::Rc;

#[derive(Clone)]
pub struct RunSpec {
    pub seed: Seed,
    pub client: &'static Definition,
    /// Families of the plan's faults. The choice of servers also depends on the families.
    pub families: Families,
    /// Scenario with the lengths that the seed drew.
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

    /// Returns the time before the run in which real servers elect a leader or copy their data.
    /// Returns 0 for simulated servers.
    pub(super) fn warm_up(&self) -> Micros {
        let coordinator = self.client.deployment.coordinator().name();
        let is_real = self.scenario.binaries.contains_key(coordinator);
        let program = self.scenario.program(self.client);
        let is_own = program.is_some_and(|program| !program.servers.is_empty());
        if !is_real && !is_own {
            return Micros::ZERO;
        }
        let warm_up = SimTime::ZERO + real::warm_up(self.topology());
        network::align_up(warm_up, self.scenario.timing.quantum.0).since(SimTime::ZERO)
    }

    pub(super) fn coordinator(&self) -> &'static Entry {
        entry(self.client.deployment.coordinator())
    }

    pub(super) fn lease(&self) -> Micros {
        (self.coordinator().lease)(self.scenario.ttl.0)
    }
}
