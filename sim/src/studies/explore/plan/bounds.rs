use super::level::Level;
use super::rule::Rule;
use crate::setup::scenario::{ClientCalls, Hold, Nesting, Scenario, Servers};
use crate::setup::span::{Span, SpanRange};
use clap::ValueEnum;
use fencepost_clients::Definition;
use fencepost_faults::family::away_at_least;
use fencepost_faults::{Families, Family, Micros, Seed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Durations tried per interval between two timers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grain {
    /// Two durations: one time step after the earlier timer, and one time step before the later
    /// timer. Every timer counts.
    Fine,
    /// One duration, halfway between the timers. Timers at most a round trip apart count as one
    /// timer.
    Coarse,
}

#[derive(Clone)]
pub struct Bounds {
    pub client: &'static Definition,
    pub families: Families,
    /// Maximum number of faults: 0, 1 or 2.
    pub faults: u8,
    /// Maximum number of delayed messages: 0, 1 or 2.
    pub delays: u8,
    /// The ranges of critical sections, think times and retries must contain a single value. Each
    /// base run sets its own latencies.
    pub scenario: Scenario,
    /// Upper limit of the fault durations, added latencies and clock steps that `explore` chooses.
    /// The downtimes of restarts come from the scenario.
    pub longest: Span,
    pub grain: Grain,
    pub rules: BTreeSet<Rule>,
    /// Seed for random values that are not enumerated, such as owners' names.
    pub seed: Seed,
}

impl Bounds {
    /// Returns the default for `longest`: 1.5 leases or, with `failover`, at least the time until
    /// another server takes over.
    pub fn usual_longest(client: &Definition, families: &Families, scenario: &Scenario) -> Span {
        let leases = Span(Micros(scenario.ttl.0.0.saturating_mul(3) / 2));
        if families.chosen().all(|family| family != Family::Failover) {
            return leases;
        }
        let setting = scenario.setting(scenario.topology(client, families));
        leases.max(Span(away_at_least(&setting)))
    }

    pub fn most(&self) -> Level {
        Level { faults: self.faults, delays: self.delays }
    }

    pub(crate) fn acting_rules(&self) -> impl Iterator<Item = Rule> {
        self.rules.iter().copied().filter(|rule| self.delays > 0 || *rule != Rule::Order)
    }
}

/// Returns a small scenario, because `explore` places a fault at every event.
pub fn small_scenario() -> Scenario {
    let fixed = |millis| SpanRange::new(Span::millis(millis), Span::millis(millis));
    Scenario {
        processes: 2,
        cycles: 1,
        think: fixed(1),
        hold: Hold::Drawn(fixed(4_000)),
        nesting: Nesting::Always,
        servers: Servers { masters: 3, ..Servers::default() },
        calls: ClientCalls { retry: fixed(2_000), ..ClientCalls::default() },
        ..Scenario::default()
    }
}
