use super::spec::RunSpec;
use crate::setup::scenario::Standby;
use crate::world::network;
use fencepost_clients::{Deployment, LockForm};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Fault, Micros};
use fencepost_reports::Availability;

impl RunSpec {
    /// Maximum time from healing to a successful acquire.
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

    /// Maximum time until a process is in a fair lock's queue. With faults or sessions, the process
    /// must first find a server.
    pub(super) fn order_bound(&self) -> Micros {
        let starts_at_once = !self.client.deployment.lives_with_session();
        match self.plan.faults.is_empty() && starts_at_once {
            true => self.scenario.calls.command_timeout.0 + self.scenario.calls.retry.max.0,
            false => self.progress_bound(),
        }
    }

    /// Maximum time without a message from a waiting process. With sessions or queues at the
    /// server, the process may sleep for the whole progress bound.
    pub(super) fn silence_bound(&self) -> Micros {
        let scenario = &self.scenario;
        let deployment = self.client.deployment;
        let may_queue =
            deployment == Deployment::Own || deployment.lock_form() == Some(LockForm::Connection);
        if deployment.lives_with_session() || may_queue {
            return self.progress_bound();
        }
        self.lease() + scenario.calls.command_timeout.0 + scenario.calls.retry.max.0
    }

    /// Returns the bound that applies if the user sets none. The bound includes the longest delay,
    /// because a delayed message may arrive after its fault has ended.
    fn default_availability(&self) -> Micros {
        let delays = self.plan.faults.iter().filter_map(|timed| match timed.fault {
            Fault::Delay { extra_us_max, .. } => Some(extra_us_max),
            _ => None,
        });
        let think = match self.scenario.program(self.client) {
            Some(_) => Micros::ZERO,
            None => self.scenario.think.max.0,
        };
        self.progress_bound() + delays.max().unwrap_or_default() + think
    }

    /// Returns the bound, which applies while enough servers are up: a quorum of masters, a
    /// majority of an ensemble, both servers with a synchronous standby, or else any server.
    pub(super) fn availability(&self) -> Availability {
        let stated = self.scenario.availability.map(|bound| bound.0);
        let between_faults = stated.is_none();
        let bound_us = stated.unwrap_or_else(|| self.default_availability());
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
        Availability { bound_us, servers, needed, between_faults }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::scenario::Scenario;
    use crate::setup::span::Span;
    use fencepost_faults::Seed;
    use std::rc::Rc;

    #[test]
    fn the_default_availability_covers_late_messages_and_the_pauses_of_the_workload() {
        let beyond_progress = |family: &str, scenario: Scenario| {
            let client = fencepost_clients::find("single-node").expect("a lock");
            let families = family.parse().expect("a family");
            let spec = RunSpec::draw(Seed(1), client, &families, Rc::new(scenario));
            let availability = spec.availability();
            let longest = spec.plan.faults.iter().filter_map(|timed| match timed.fault {
                Fault::Delay { extra_us_max, .. } => Some(extra_us_max),
                _ => None,
            });
            let rest = availability.bound_us.0 - spec.progress_bound().0;
            (availability.between_faults, rest, longest.max().map_or(0, |delay| delay.0))
        };
        let think = Scenario::default().think.max.0.0;
        let (between_faults, rest, delay) = beyond_progress("latency", Scenario::default());
        assert!(between_faults && delay > 0);
        assert_eq!(rest, delay + think);
        assert_eq!(beyond_progress("pause", Scenario::default()), (true, think, 0));
        let stated = Scenario { availability: Some(Span::secs(90)), ..Scenario::default() };
        assert!(!beyond_progress("latency", stated).0);
    }
}
