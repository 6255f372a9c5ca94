use super::bounds::Bounds;
use super::place::sites_of;
use crate::run::fit::{Incompatible, fits};
use crate::setup::scenario::Hold;
use crate::setup::span::{Span, SpanRange};
use fencepost_faults::Family;
use fencepost_faults::family::away_at_least;
use fencepost_faults::setting::Topology;

const FAULTS_MAX: u8 = 2;

const DELAYS_MAX: u8 = 2;

const DEPTH_MAX: usize = 3;

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

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum InvalidBounds {
    #[error(transparent)]
    Unfit(#[from] Incompatible),
    #[error(
        "explore does not enumerate fault '{0}': expected one or more of {valid}",
        valid = valid()
    )]
    Family(&'static str),
    #[error("--faults '{0}': expected 0, 1 or 2")]
    Faults(u8),
    #[error("--delays '{0}': expected 0, 1 or 2, and at most 3 faults and delays together")]
    Delays(u8),
    #[error("latency '{0}': expected a range with --delays, like 200us..2ms")]
    NoReach(SpanRange),
    #[error("fault 'none': expected --faults 0, or one or more of {valid}", valid = valid())]
    NoFamily,
    #[error(
        "explore does not enumerate failovers by an operator, and this lock's servers have no \
         other failovers: expected one or more of {valid}",
        valid = valid_but(Family::Failover)
    )]
    Promotion,
    #[error(
        "fault '{0}' does not apply to this deployment: expected one or more of {valid}",
        valid = valid_but(*.0)
    )]
    NoTarget(Family),
    #[error("--longest '{0}': expected at least {1} with --fault failover")]
    TooShort(Span, Span),
    #[error("{key} '{range}': expected one duration, like {key}={least}", least = .range.min)]
    Range { key: &'static str, range: SpanRange },
    #[error(
        "--program '{0}': expected --client or --lock, because a program's runs differ in the \
         times at which faults can begin"
    )]
    Program(String),
    #[error("slow-link '{0}': remove this setting, because explore makes every link slow in turn")]
    SlowLink(String),
    #[error(
        "{0} '{1}': remove this setting, because explore does not enumerate cancelled or \
         interrupted calls"
    )]
    GivesUp(&'static str, &'static str),
    #[error("--longest '{0}': expected 1ms to 1h")]
    Longest(Span),
}

impl Bounds {
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

fn valid_but(one: Family) -> String {
    let others = FAMILIES.iter().filter(|family| **family != one);
    others.map(|family| family.name()).collect::<Vec<_>>().join(", ")
}
