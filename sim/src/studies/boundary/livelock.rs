//! Calculates how widely to spread retry delays, so that processes do not keep splitting the votes
//! of independent masters. In a round, each of `n` processes begins after a delay drawn uniformly
//! from a spread `s`. The first process leads the second by more than `g` with probability
//! `(1-g/s)^n` (the spacing of uniform order statistics: David and Nagaraja, "Order Statistics",
//! 2003, section 6.4).

use crate::setup::scenario::Scenario;
use fencepost_faults::Micros;
use fencepost_reports::documents::boundary::Bound;

const RISK: f64 = 1e-6;
const STEP_US: u64 = 1_000;

pub(super) fn spread(scenario: &Scenario) -> Option<Bound> {
    let contest = ContentionModel::of(scenario);
    let mut spreads = (1..=contest.time_us / STEP_US).map(|steps| steps * STEP_US);
    let value = spreads.find(|spread_us| contest.risk(*spread_us) <= RISK)?;
    Some(Bound {
        value,
        rule: format!(
            "in all but one run in a million, one process starts at least one round within a lease \
             {} before all others, which is long enough to lock a majority",
            Micros(contest.lead_us)
        ),
        slack: "a process needs this lead only over processes that compete for the same masters, \
                and leads add up from round to round"
            .to_owned(),
    })
}

struct ContentionModel {
    processes: u64,
    lead_us: u64,
    round_us: u64,
    delay_us: u64,
    time_us: u64,
}

impl ContentionModel {
    fn of(scenario: &Scenario) -> ContentionModel {
        let round_trip_us = scenario.timing.latency.max.0.0 * 2 + scenario.timing.service_time.0.0;
        let masters = u64::from(scenario.servers.masters);
        ContentionModel {
            processes: u64::from(scenario.processes) + 1,
            lead_us: round_trip_us * (masters / 2 + 1),
            round_us: round_trip_us * masters * 2,
            delay_us: scenario.calls.retry.min.0.0,
            time_us: scenario.ttl.0.0,
        }
    }

    fn risk(&self, spread_us: u64) -> f64 {
        if spread_us <= self.lead_us {
            return 1.0;
        }
        let led = power(1.0 - self.lead_us as f64 / spread_us as f64, self.processes);
        power(1.0 - led, self.time_us / (self.round_us + self.delay_us + spread_us))
    }
}

/// Gives the same result on every machine, unlike `powi`.
fn power(base: f64, exponent: u64) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * base)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::scenario::{ClientCalls, Timing};
    use crate::setup::span::{Span, SpanRange};

    fn within(processes: u16, latency: Span) -> Scenario {
        let retry = SpanRange::new(Span::millis(50), Span::millis(50));
        Scenario {
            processes,
            calls: ClientCalls { retry, ..ClientCalls::default() },
            timing: Timing { latency: SpanRange::new(latency, latency), ..Timing::default() },
            ..Scenario::default()
        }
    }

    #[test]
    fn a_lead_is_that_of_a_majority_and_without_it_nothing_is_sure() {
        let contest = ContentionModel::of(&within(4, Span::millis(2)));
        assert_eq!((contest.lead_us, contest.round_us), (3 * 4_020, 10 * 4_020));
        assert!((contest.risk(contest.lead_us) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn the_risk_of_the_bound_is_small_and_that_of_half_of_it_is_not() {
        let scenario = within(4, Span::millis(2));
        let (contest, bound) = (ContentionModel::of(&scenario), spread(&scenario).unwrap().value);
        assert!(contest.risk(bound) <= RISK && contest.risk(bound / 2) > RISK, "{bound}");
    }

    #[test]
    fn more_processes_and_slower_messages_need_a_wider_spread() {
        let spread = |processes, latency| spread(&within(processes, latency)).unwrap().value;
        assert!(spread(8, Span::millis(2)) > spread(4, Span::millis(2)));
        assert!(spread(4, Span::millis(4)) > spread(4, Span::millis(2)));
    }
}
