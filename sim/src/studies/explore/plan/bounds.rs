//! What is enumerated: which faults, how many, how long, with which lock and scenario.

use super::level::Level;
use super::rule::Rule;
use crate::setup::scenario::{ClientCalls, Hold, Scenario, Servers};
use crate::setup::span::{Span, SpanRange};
use clap::ValueEnum;
use fencepost_clients::Definition;
use fencepost_faults::family::away_at_least;
use fencepost_faults::{Families, Family, Micros, Seed};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How many values stand for the lengths between two timers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grain {
    /// Two: one quantum after the earlier and one quantum before the later. Every timer counts.
    Fine,
    /// One, half-way between them. Timers that are nearer to each other than a round trip count as
    /// one.
    Coarse,
}

/// What is enumerated.
#[derive(Clone)]
pub struct Bounds {
    /// The lock.
    pub client: &'static Definition,
    /// The families of the faults; `none` if there are to be no faults.
    pub families: Families,
    /// How many faults a plan holds at most.
    pub faults: u8,
    /// How many messages a plan delays past their neighbours at most.
    pub delays: u8,
    /// Deployment and workload; holds, waits and retries are fixed. Base runs vary its latency.
    pub scenario: Scenario,
    /// No fault lasts longer than this, delays a message by more, or steps a clock by more.
    pub longest: Span,
    /// How many values stand for the lengths between two timers.
    pub grain: Grain,
    /// Which plans are left out.
    pub rules: BTreeSet<Rule>,
    /// What little is drawn is drawn from this seed: names of owners, and retries of locks that
    /// draw their own.
    pub seed: Seed,
}

impl Bounds {
    /// How long faults last at most unless somebody says so: a lease and a half, and long enough
    /// for what `failover` does.
    pub fn usual_longest(client: &Definition, families: &Families, scenario: &Scenario) -> Span {
        let leases = Span(Micros(scenario.ttl.0.0.saturating_mul(3) / 2));
        if families.chosen().all(|family| family != Family::Failover) {
            return leases;
        }
        let setting = scenario.setting(scenario.topology(client, families));
        leases.max(Span(away_at_least(&setting)))
    }

    /// How much a plan holds at most.
    pub fn most(&self) -> Level {
        Level { faults: self.faults, delays: self.delays }
    }

    /// The rules that can leave something out.
    pub(crate) fn acting_rules(&self) -> impl Iterator<Item = Rule> {
        self.rules.iter().copied().filter(|rule| self.delays > 0 || *rule != Rule::Order)
    }
}

/// What is explored unless something else is asked for: few processes and short, because every
/// event is a place for a fault, and fixed.
pub fn small_scenario() -> Scenario {
    let fixed = |millis| SpanRange::new(Span::millis(millis), Span::millis(millis));
    Scenario {
        processes: 2,
        cycles: 1,
        think: fixed(1),
        hold: Hold::Drawn(fixed(4_000)),
        servers: Servers { masters: 3, ..Servers::default() },
        calls: ClientCalls { retry: fixed(2_000), ..ClientCalls::default() },
        ..Scenario::default()
    }
}
