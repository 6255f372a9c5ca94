//! Which bounds can be enumerated.

use super::bounds::Bounds;
use super::place::sites_of;
use crate::run::fit::{Unfit, fits};
use crate::setup::scenario::Hold;
use crate::setup::span::{Span, SpanRange};
use fencepost_faults::Family;
use fencepost_faults::family::away_at_least;
use fencepost_faults::setting::Topology;

/// The most faults that a plan may hold.
const FAULTS_MAX: u8 = 2;

/// The most messages that a plan may delay.
const DELAYS_MAX: u8 = 2;

/// The most that a plan may hold of both.
const DEPTH_MAX: usize = 3;

/// The families whose faults are enumerated. The others are drawn from ranges that no timer divides
/// into classes (rates of clocks, how slow a server is, how far a replica lags), or are made of the
/// others.
const FAMILIES: &[Family] = &[
    Family::Pause,
    Family::ClockJump,
    Family::Restart,
    Family::Partition,
    Family::LostReply,
    Family::LostRequest,
    Family::Latency,
    Family::StorageDelay,
    Family::Suspend,
    Family::ClientCrash,
    Family::Eviction,
    Family::Failover,
];

/// Bounds that cannot be enumerated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidBounds {
    /// The lock and the scenario do not go together.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// A family whose faults are not enumerated.
    #[error("fault '{0}': explore places {valid}", valid = valid())]
    Family(&'static str),
    /// More faults than can be placed.
    #[error("faults '{0}': expected 0, 1 or 2")]
    Faults(u8),
    /// More delayed messages than can be placed, or too many of both.
    #[error("delays '{0}': expected 0, 1 or 2, and at most 3 faults and delays together")]
    Delays(u8),
    /// Messages are to be delayed, but all take the same.
    #[error("latency '{0}': expected a range, like 200us..2ms, within which messages are delayed")]
    NoReach(SpanRange),
    /// Faults are asked for, but none of any family.
    #[error("fault 'none': expected --faults 0, or one or more of {valid}", valid = valid())]
    NoFamily,
    /// A server takes over because an operator says so.
    #[error(
        "fault 'failover': explore does not place what an operator does: expected one or more of \
         {valid}",
        valid = valid_but(Family::Failover)
    )]
    Promotion,
    /// There is nothing in the deployment that a family could hit.
    #[error(
        "fault '{0}': it hits nothing of this deployment: expected one or more of {valid}",
        valid = valid_but(*.0)
    )]
    NoTarget(Family),
    /// Faults of `failover` last longer than the longest may.
    #[error("longest '{0}': expected at least {1} with --fault failover")]
    TooShort(Span, Span),
    /// A length that is a range.
    #[error("{key} '{range}': expected one duration, like {key}={least}", least = .range.min)]
    Range {
        /// Its key in the scenario.
        key: &'static str,
        /// Its value.
        range: SpanRange,
    },
    /// A lock that is a program of the user's own.
    #[error(
        "program '{0}': expected --client with a lock of the table; a program keeps clocks of its \
     own, so that a place in one run is no place in another"
    )]
    Program(String),
    /// A link that is slow in all runs.
    #[error("slow-link '{0}': expected none; explore makes every link slow in turn")]
    SlowLink(String),
    /// Calls that the application gives up at moments that are drawn.
    #[error("{0} '{1}': expected none; explore does not give up calls at every moment")]
    GivesUp(&'static str, &'static str),
    /// A longest fault that is none.
    #[error("longest '{0}': expected 1ms to 1h")]
    Longest(Span),
}

impl Bounds {
    /// Checks that they can be enumerated. Errors name the value and what would be valid.
    pub fn validate(&self) -> Result<(), InvalidBounds> {
        let scenario = &self.scenario;
        if let Some(family) = self.families.chosen().find(|family| !is_placed(*family)) {
            return Err(InvalidBounds::Family(family.name()));
        }
        if self.faults > FAULTS_MAX {
            return Err(InvalidBounds::Faults(self.faults));
        }
        if self.faults > 0 && self.families.is_none() {
            return Err(InvalidBounds::NoFamily);
        }
        if self.delays > DELAYS_MAX || self.most().depth() > DEPTH_MAX {
            return Err(InvalidBounds::Delays(self.delays));
        }
        if self.delays > 0 && scenario.timing.latency.min == scenario.timing.latency.max {
            return Err(InvalidBounds::NoReach(scenario.timing.latency));
        }
        if let Some(program) = scenario.program(self.client) {
            return Err(InvalidBounds::Program(program.name.clone()));
        }
        if let Some(link) = scenario.timing.slow_link {
            return Err(InvalidBounds::SlowLink(link.to_string()));
        }
        if let Some((key, value)) = scenario.gives_up() {
            return Err(InvalidBounds::GivesUp(key, value));
        }
        if !(Span::millis(1)..=Span::secs(3_600)).contains(&self.longest) {
            return Err(InvalidBounds::Longest(self.longest));
        }
        let hold = match scenario.hold {
            Hold::Drawn(range) => Some(range),
            Hold::UntilValidity => None,
        };
        let lengths = [
            ("think", Some(scenario.think)),
            ("hold", hold),
            ("retry", Some(scenario.calls.retry)),
        ];
        for (key, range) in lengths {
            if let Some(range) = range.filter(|range| range.min != range.max) {
                return Err(InvalidBounds::Range { key, range });
            }
        }
        fits(scenario, self.client, &self.families)?;
        let topology = scenario.topology(self.client, &self.families);
        if self.families.chosen().any(|family| family == Family::Failover) {
            if matches!(topology, Topology::Standby { .. }) {
                return Err(InvalidBounds::Promotion);
            }
            let least = Span(away_at_least(&scenario.setting(topology)));
            if self.longest < least {
                return Err(InvalidBounds::TooShort(self.longest, least));
            }
        }
        let hits_nothing = |family: &Family| sites_of(self, *family).is_empty();
        match self.families.chosen().filter(|_| self.faults > 0).find(hits_nothing) {
            Some(family) => Err(InvalidBounds::NoTarget(family)),
            None => Ok(()),
        }
    }
}

fn is_placed(family: Family) -> bool {
    family == Family::None || FAMILIES.contains(&family)
}

fn valid() -> String {
    valid_but(Family::None)
}

/// All families that are placed, but for one.
fn valid_but(one: Family) -> String {
    let others = FAMILIES.iter().filter(|family| **family != one);
    others.map(|family| family.name()).collect::<Vec<_>>().join(", ")
}
