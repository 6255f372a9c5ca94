//! Progress bounds, derived from the run's parameters.

use super::spec::RunSpec;
use crate::setup::scenario::Standby;
use crate::world::network;
use fencepost_clients::{Deployment, Keeps};
use fencepost_faults::Micros;
use fencepost_faults::setting::Topology;
use fencepost_reports::Availability;

impl RunSpec {
    /// Returns the time after healing within which an acquire must succeed. It is the sum of the
    /// ttl, the largest backward step of a clock, the recovery time, the longest silence of a
    /// healed link, the command timeout and the retry.
    pub fn progress_bound(&self) -> Micros {
        let scenario = &self.scenario;
        let step_back = self.plan.server_clock_back_max();
        let recovery = (self.coordinator().recovery)(scenario, self.topology());
        let silence = network::RETRY_CAP.max(network::CONNECT_RETRY_CAP);
        self.lease()
            + step_back
            + recovery
            + silence
            + scenario.calls.command_timeout.0
            + scenario.calls.retry.max.0
    }

    /// Returns the time within which a waiter for a fair lock must be queued: a command timeout and
    /// a retry. After faults, the waiter must first find a server.
    pub(super) fn order_bound(&self) -> Micros {
        let starts_at_once = !self.client.deployment.lives_with_session();
        match self.plan.faults.is_empty() && starts_at_once {
            true => self.scenario.calls.command_timeout.0 + self.scenario.calls.retry.max.0,
            false => self.progress_bound(),
        }
    }

    /// Returns the longest time without a message of a waiting process: a lease, a command timeout
    /// and a retry. A session may outlive its timeout, and a database or a user's own server may
    /// have a queue, so for these the bound is that of progress.
    pub(super) fn silence_bound(&self) -> Micros {
        let scenario = &self.scenario;
        let deployment = self.client.deployment;
        let may_queue =
            deployment == Deployment::Own || deployment.keeps() == Some(Keeps::Connection);
        if deployment.lives_with_session() || may_queue {
            return self.progress_bound();
        }
        self.lease() + scenario.calls.command_timeout.0 + scenario.calls.retry.max.0
    }

    /// Returns the span within which a free lock must be granted while enough servers run. Enough
    /// servers are one of a primary and its replicas (both if a commit waits for the other), or a
    /// majority of a quorum system. The default for programs is the bound of progress while no
    /// fault acts.
    pub(super) fn availability(&self) -> Option<Availability> {
        let stated = self.scenario.availability.map(|bound| bound.0);
        let is_program = self.scenario.program(self.client).is_some();
        let between_faults = stated.is_none();
        let bound_us = stated.or_else(|| is_program.then(|| self.progress_bound()))?;
        let (servers, needed) = match self.topology() {
            Topology::Standalone => (1, 1),
            Topology::Replicated { replicas, .. } => (1 + replicas, 1),
            Topology::Independent { masters, quorum } => (masters, quorum),
            Topology::Ensemble { servers } => (servers, servers / 2 + 1),
            Topology::Standby { .. }
                if self.scenario.servers.standby == Some(Standby::Synchronous) =>
            {
                (2, 2)
            }
            Topology::Standby { .. } => (2, 1),
        };
        Some(Availability { bound_us, servers, needed, between_faults })
    }
}
