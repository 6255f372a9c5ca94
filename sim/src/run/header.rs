use super::fit::usage;
use super::spec::RunSpec;
use crate::hosts::programs::watched::is_pattern;
use fencepost_clients::chubby::LOCK_DELAY_MAX;
use fencepost_clients::{Deployment, LockForm};
use fencepost_faults::Micros;
use fencepost_faults::setting::Topology;
use fencepost_reports::record::history::{SlowAnswers, SyncFails};
use fencepost_reports::{Header, Keeping};

impl RunSpec {
    pub(super) fn header(&self, resource: &str) -> Header {
        let quorum = match self.topology() {
            Topology::Independent { quorum, .. } => quorum,
            _ => 1,
        };
        Header {
            client: self.client.name.to_owned(),
            fault: self.families.clone(),
            seed: self.seed,
            resource: resource.to_owned(),
            ttl_us: self.lease(),
            quorum,
            has_tokens: self.client.has_tokens,
            workload: self.scenario.workload,
            storage: self.scenario.storage,
            progress_bound_us: self.progress_bound(),
            faults_planned: self.plan.faults.len() as u32,
            held_bound_us: self.scenario.held_bound.map(|bound| bound.0),
            lives_with_session: self.client.deployment.lives_with_session(),
            kept_as: self.client.deployment.lock_form().map(keeping),
            order_bound_us: self.client.is_fair.then(|| self.order_bound()),
            lock_per_job: self.has_lock_per_job(),
            availability: Some(self.availability()),
            sync_fails: self
                .failing_syncs()
                .map(|failing| SyncFails { from_us: failing.from, until_us: failing.until }),
            locks_unseen: self.client.deployment == Deployment::Own,
            renews: usage(&self.scenario, self.client).renews
                && !self.client.deployment.lives_with_session(),
            lock_delay_us: self.lock_delay(),
            slow_answers: (quorum > 1).then(|| self.slow_answers()).flatten(),
        }
    }

    fn slow_answers(&self) -> Option<SlowAnswers> {
        let waits_us = self.scenario.calls.node_timeout.0;
        let round_trip_us = Micros(self.scenario.timing.latency.max.0.0 * 2);
        let is_built_in = self.scenario.program(self.client).is_none();
        (is_built_in && round_trip_us > waits_us).then_some(SlowAnswers { round_trip_us, waits_us })
    }

    fn lock_delay(&self) -> Option<Micros> {
        let longest = Micros(LOCK_DELAY_MAX.as_micros() as u64);
        let delay = self.scenario.servers.lock_delay.map_or(longest, |delay| delay.0);
        let is_requested = usage(&self.scenario, self.client).delays;
        (is_requested && delay > Micros::ZERO).then_some(delay)
    }

    fn has_lock_per_job(&self) -> bool {
        let program = self.scenario.program(self.client);
        self.scenario.workload.is_done_once()
            && program.is_some_and(|program| is_pattern(&program.lock_key))
    }
}

fn keeping(keeps: LockForm) -> Keeping {
    match keeps {
        LockForm::RowByClients => Keeping::RowByClients,
        LockForm::RowByServer => Keeping::RowByServer,
        LockForm::Connection => Keeping::Connection,
        LockForm::Lease => Keeping::Lease,
        LockForm::Session => Keeping::Session,
        LockForm::Membership => Keeping::Membership,
        LockForm::MemberLease => Keeping::MemberLease,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::scenario::{ClientCalls, Scenario, Timing};
    use crate::setup::span::{Span, SpanRange};
    use fencepost_faults::{Families, Seed};
    use std::rc::Rc;

    #[test]
    fn answers_that_can_miss_the_timeout_of_a_master_are_stated() {
        let slow = |client: &str, latency_ms: u64, node_timeout_ms: u64| {
            let scenario = Scenario {
                timing: Timing {
                    latency: SpanRange::new(Span::millis(1), Span::millis(latency_ms)),
                    ..Timing::default()
                },
                calls: ClientCalls {
                    node_timeout: Span::millis(node_timeout_ms),
                    ..ClientCalls::default()
                },
                ..Scenario::default()
            };
            let client = fencepost_clients::find(client).expect("a lock");
            let none: Families = "none".parse().expect("a family");
            let spec = RunSpec::draw(Seed(1), client, &none, Rc::new(scenario));
            spec.header("orders").slow_answers.map(|slow| (slow.round_trip_us, slow.waits_us))
        };
        let stated = Some((Micros::from_millis(100), Micros::from_millis(50)));
        assert_eq!(slow("redlock", 50, 50), stated);
        assert_eq!(slow("redlock", 50, 100), None, "every answer is in time");
        assert_eq!(slow("single-node", 50, 50), None);
    }
}
