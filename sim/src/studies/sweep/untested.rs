//! Describes mistakes that no number of seeds reveals with the settings of a sweep.

use crate::run::fit;
use crate::setup::lengths::{Length, drawn_for};
use crate::setup::scenario::{Hold, Scenario};
use crate::setup::span::Span;
use fencepost_clients::{Coordinator, Definition};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Families, Family};

struct Case<'s> {
    scenario: &'s Scenario,
    client: &'s Definition,
    families: &'s Families,
}

type Rule = fn(&Case<'_>) -> Option<String>;

const RULES: &[(Family, Rule)] = &[
    (Family::Partition, no_replicas),
    (Family::ClockDrift, short_holds),
    (Family::Latency, impatient),
    (Family::Failover, has_long_absences),
];

/// Returns an empty list for the family `all`, which draws the settings itself.
pub(super) fn untested_settings(
    scenario: &Scenario,
    client: &Definition,
    families: &Families,
) -> Vec<String> {
    if families.is_swarm() {
        return Vec::new();
    }
    let case = Case { scenario, client, families };
    let rules = RULES.iter().filter(|(family, _)| families.chosen().any(|one| one == *family));
    rules.filter_map(|(_, rule)| rule(&case)).collect()
}

fn no_replicas(case: &Case<'_>) -> Option<String> {
    let Case { scenario, client, families } = case;
    match scenario.topology(client, families) {
        Topology::Standalone | Topology::Independent { .. } => Some(
            "no server has a replica here, so no partition separates a primary from its replicas"
                .to_owned(),
        ),
        Topology::Replicated { .. } | Topology::Ensemble { .. } | Topology::Standby { .. } => None,
    }
}

fn short_holds(case: &Case<'_>) -> Option<String> {
    let Case { scenario, client, families } = case;
    let Hold::Drawn(hold) = scenario.hold else { return None };
    let longer = drawn_for(fit::usage(scenario, client), families).contains(&Length::Hold)
        && Length::Hold.is_built_in(scenario);
    let ppm = u64::from(scenario.faults.drift_ppm);
    let (longest, lease) = (hold.max.0.as_micros(), scenario.ttl.0.as_micros());
    let ends_in_time = longest * (1_000_000 + ppm) < lease * 1_000_000u64.saturating_sub(ppm);
    (!longer && ends_in_time).then(|| {
        format!(
            "no critical section lasts until its lease is about to expire: the longest takes {} of \
             {}, and no clock is off by more than {} % (--hold until-validity tests that)",
            hold.max,
            scenario.ttl,
            ppm as f64 / 10_000.0
        )
    })
}

/// Returns a note if clients give up before late replies arrive. Returns `None` for locks on
/// ZooKeeper and for programs, which have their own timeouts.
fn impatient(case: &Case<'_>) -> Option<String> {
    let Case { scenario, client, families } = case;
    if client.deployment.coordinator() == Coordinator::ZooKeeper
        || scenario.program(client).is_some()
    {
        return None;
    }
    let setting = scenario.setting(scenario.topology(client, families));
    let timeout = scenario.calls.command_timeout;
    (setting.knobs.latency.max_us > timeout.0).then(|| {
        format!(
            "a client gives up after waiting {timeout} for an answer, so a later answer grants \
             nothing (raise it with --set command-timeout)"
        )
    })
}

fn has_long_absences(case: &Case<'_>) -> Option<String> {
    let Case { scenario, client, families } = case;
    let lease: Span = scenario.ttl;
    match scenario.topology(client, families) {
        Topology::Independent { .. } => Some(format!(
            "a server that fails stays down for longer than the lease of {lease}: use `restart` \
             for shorter downtimes"
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::scenario::ClientCalls;
    use crate::setup::span::SpanRange;

    fn found(client: &str, fault: &str, scenario: &Scenario) -> String {
        let client = fencepost_clients::find(client).unwrap();
        untested_settings(scenario, client, &fault.parse().unwrap()).join("; ")
    }

    #[test]
    fn what_a_family_never_does_with_these_settings_is_told() {
        let plain = Scenario::default();
        assert!(found("single-node", "partition", &plain).contains("no server has a replica"));
        assert!(found("redlock", "failover", &plain).contains("longer than the lease of 10s"));
        assert!(found("redlock", "clock-drift", &plain).contains("takes 8s of 10s"));
        assert!(found("redlock", "latency", &plain).contains("waiting 500ms"));
        assert_eq!(found("redlock", "pause", &plain), "");
        assert_eq!(found("redlock", "all", &plain), "");
    }

    #[test]
    fn what_the_settings_put_to_the_test_is_not_told() {
        let plain = Scenario::default();
        assert_eq!(found("single-node", "failover", &plain), "", "it has replicas");
        assert_eq!(found("watchdog", "clock-drift", &plain), "", "its holds outlast the lease");
        let until = Scenario { hold: Hold::UntilValidity, ..plain.clone() };
        assert_eq!(found("redlock", "clock-drift", &until), "");
        let long = SpanRange::new(Span::millis(10), Span::millis(9_500));
        let near = Scenario { hold: Hold::Drawn(long), ..plain.clone() };
        assert_eq!(found("redlock", "clock-drift", &near), "");
        let patient = Scenario {
            calls: ClientCalls { command_timeout: Span::secs(3), ..plain.calls },
            ..plain
        };
        assert_eq!(found("redlock", "latency", &patient), "");
    }
}
