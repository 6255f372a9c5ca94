//! Draws the lengths of leases, critical sections and waits that the user did not set, to vary the
//! runs as swarm testing does (Groce, Zhang, Eide, Chen and Regehr, ISSTA 2012).

pub use crate::setup::scenario::length::Length;
use crate::setup::scenario::{Hold, Scenario};
use crate::setup::span::{Span, SpanRange};
use fencepost_clients::Usage;
use fencepost_faults::draw::{log_uniform, uniform};
use fencepost_faults::{Families, Family, Micros, Seed, Stream};
use std::collections::BTreeMap;

impl Length {
    /// All lengths that a seed can draw, in the order of the draws.
    pub const ALL: [Length; 5] =
        [Length::Ttl, Length::Hold, Length::Think, Length::Retry, Length::StorageTimeout];

    pub fn key(self) -> &'static str {
        match self {
            Length::Ttl => "ttl",
            Length::Hold => "hold",
            Length::Think => "think",
            Length::Retry => "retry",
            Length::StorageTimeout => "storage-timeout",
        }
    }

    fn value(self, scenario: &Scenario) -> String {
        match self {
            Length::Ttl => scenario.ttl.to_string(),
            Length::Hold => scenario.hold.to_string(),
            Length::Think => scenario.think.to_string(),
            Length::Retry => scenario.calls.retry.to_string(),
            Length::StorageTimeout => scenario.calls.storage_timeout.to_string(),
        }
    }

    pub(crate) fn is_built_in(self, scenario: &Scenario) -> bool {
        self.value(scenario) == self.value(&Scenario::default())
    }

    fn is_asked_for(self, scenario: &Scenario) -> bool {
        scenario.keeps.contains(&self) || !self.is_built_in(scenario)
    }

    /// The lease is also kept if the user set the critical section or the downtime, because both
    /// are relative to the lease.
    fn is_kept(self, scenario: &Scenario) -> bool {
        let stated_against = self == Length::Ttl
            && (Length::Hold.is_asked_for(scenario)
                || scenario.faults.restart_delay != Scenario::default().faults.restart_delay);
        self.is_asked_for(scenario) || stated_against
    }
}

pub(crate) fn drawn_for(usage: Usage, families: &Families) -> Vec<Length> {
    if families.is_swarm() {
        return Length::ALL.into();
    }
    let outlasts = usage.renews || usage.extends;
    let waits = families.chosen().any(|family| family == Family::StorageDelay);
    let hold = outlasts.then_some(Length::Hold);
    hold.into_iter().chain(waits.then_some(Length::StorageTimeout)).collect()
}

/// Draws the lengths of a seed. Kept lengths are drawn and ignored, so that others do not change.
pub(crate) fn drawn(
    seed: Seed,
    usage: Usage,
    families: &Families,
    scenario: &Scenario,
) -> Scenario {
    let mut rng = seed.stream(Stream::Lengths);
    let ttl = Span::secs(log_uniform(&mut rng, 4..=30));
    let hold_per_mille = uniform(&mut rng, 300..=800);
    let think_ms = log_uniform(&mut rng, 2..=1_000);
    let retry_ms = log_uniform(&mut rng, 100..=1_000);
    let patience_per_mille = log_uniform(&mut rng, 50..=3_000);
    let hold_per_mille = match usage.renews || usage.extends {
        true if families.is_swarm() => hold_per_mille * 2,
        true => HOLD_OF_RENEWED_PER_MILLE,
        false => hold_per_mille,
    };
    let mut drawn = scenario.clone();
    for length in drawn_for(usage, families).into_iter().filter(|length| !length.is_kept(scenario))
    {
        match length {
            Length::Ttl => drawn.ttl = ttl,
            Length::Hold => drawn.hold = Hold::Drawn(hold_within(drawn.ttl, hold_per_mille)),
            Length::StorageTimeout => {
                let patience = (drawn.ttl.0.as_millis() * patience_per_mille / 1_000).max(500);
                drawn.calls.storage_timeout = Span::millis(patience);
            }
            Length::Think => drawn.think = SpanRange::new(Span::millis(1), Span::millis(think_ms)),
            Length::Retry => {
                drawn.calls.retry =
                    SpanRange::new(Span::millis(retry_ms / 4), Span::millis(retry_ms))
            }
        }
    }
    drawn
}

const HOLD_OF_RENEWED_PER_MILLE: u64 = 1_500;

fn hold_within(ttl: Span, per_mille: u64) -> SpanRange {
    let max_us = ttl.0.as_micros() * per_mille / 1_000;
    let max = if max_us < 1_000 { Span(Micros(max_us)) } else { Span::millis(max_us / 1_000) };
    SpanRange::new(Span::millis(10).min(max), max)
}

pub(crate) fn with_stated(
    scenario: &Scenario,
    lengths: &BTreeMap<String, String>,
) -> Result<Scenario, String> {
    let mut json = serde_json::to_value(scenario).map_err(|error| error.to_string())?;
    for (key, value) in lengths {
        json[key] = serde_json::Value::String(value.clone());
    }
    serde_json::from_value(json).map_err(|error| error.to_string())
}

pub(crate) fn stated(lengths: &[Length], scenario: &Scenario) -> BTreeMap<String, String> {
    lengths.iter().map(|length| (length.key().to_owned(), length.value(scenario))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::scenario::FaultSizes;

    fn of(seed: u64, scenario: &Scenario) -> Scenario {
        drawn(Seed(seed), Usage::PLAIN, &Families::from(Family::All), scenario)
    }

    fn all_kept() -> Scenario {
        Scenario { keeps: Length::ALL.into(), ..Scenario::default() }
    }

    #[test]
    fn a_seed_draws_every_length_and_another_seed_others() {
        let built_in = Scenario::default();
        for length in Length::ALL {
            let values: Vec<String> =
                (0..20).map(|seed| length.value(&of(seed, &built_in))).collect();
            assert!(
                values.iter().any(|value| *value != values[0]),
                "{length:?} is always {}",
                values[0]
            );
            assert_eq!(values[3], length.value(&of(3, &built_in)), "{length:?}");
        }
    }

    #[test]
    fn holds_end_before_the_lease_and_every_scenario_makes_sense() {
        for seed in 0..500 {
            for ttl in [Span::millis(1), Span::secs(1), Span::secs(10)] {
                let drawn = of(seed, &Scenario { ttl, ..Scenario::default() });
                let Hold::Drawn(hold) = drawn.hold else { panic!("a swarm draws ranges") };
                assert!(
                    hold.min <= hold.max && hold.max.0.0 * 5 <= drawn.ttl.0.0 * 4,
                    "{seed}: {hold} of {}",
                    drawn.ttl
                );
                assert_eq!(drawn.validate(), Ok(()), "{seed}");
            }
        }
    }

    #[test]
    fn a_length_that_was_asked_for_stays_and_changes_no_other_draw() {
        let asked =
            Scenario { think: SpanRange::new(Span::secs(1), Span::secs(2)), ..Scenario::default() };
        let (free, bound) = (of(5, &Scenario::default()), of(5, &asked));
        assert_eq!(bound.think, asked.think);
        assert_eq!(bound, Scenario { think: asked.think, ..free });
        assert_eq!(of(5, &all_kept()), all_kept(), "asked for, though it is what is built in");
    }

    #[test]
    fn a_lock_that_renews_is_held_beyond_its_lease_and_one_that_does_not_is_not() {
        let renewing = Usage { renews: true, ..Usage::PLAIN };
        let built_in = Scenario::default();
        let of = |usage, family| drawn(Seed(3), usage, &Families::from(family), &built_in);
        assert_eq!(of(Usage::PLAIN, Family::Pause), built_in);
        let Hold::Drawn(hold) = of(renewing, Family::Pause).hold else { panic!("a range") };
        assert_eq!((hold.min, hold.max), (Span::millis(10), Span::secs(15)));
        let asked = Scenario { keeps: Length::ALL.into(), ..Scenario::default() };
        assert_eq!(drawn(Seed(3), renewing, &Families::from(Family::Pause), &asked), asked);
    }

    #[test]
    fn patience_with_the_storage_is_drawn_where_the_storage_is_late() {
        let of = |seed, family: Family| {
            let families = Families::from(family);
            drawn(Seed(seed), Usage::PLAIN, &families, &Scenario::default()).calls.storage_timeout
        };
        let waits: Vec<Span> = (0..100).map(|seed| of(seed, Family::StorageDelay)).collect();
        assert!(waits.iter().any(|wait| *wait > Span::secs(15)));
        assert!(waits.iter().any(|wait| *wait < Span::secs(1)));
        assert!((0..9).all(|seed| of(seed, Family::Pause) == Span::secs(1)));
    }

    #[test]
    fn what_is_stated_against_the_lease_keeps_the_lease() {
        let hold = Hold::Drawn(SpanRange::new(Span::secs(11), Span::secs(19)));
        let overrun = Scenario { hold, ..Scenario::default() };
        let restart_delay = SpanRange::new(Span::secs(10), Span::secs(10));
        let delayed = Scenario {
            faults: FaultSizes { restart_delay, ..FaultSizes::default() },
            ..Scenario::default()
        };
        for seed in 0..20 {
            assert_eq!(of(seed, &overrun).ttl, Span::secs(10));
            assert_eq!(of(seed, &delayed).ttl, Span::secs(10));
        }
    }

    #[test]
    fn what_a_report_states_is_what_was_drawn() {
        let once = of(7, &Scenario::default());
        assert_eq!(with_stated(&Scenario::default(), &stated(&Length::ALL, &once)), Ok(once));
        let wrong = BTreeMap::from([("leese".to_owned(), "2s".to_owned())]);
        assert!(
            with_stated(&Scenario::default(), &wrong).is_err_and(|error| error.contains("leese"))
        );
    }

    #[test]
    fn the_deviations_of_what_was_drawn_draw_the_same_again() {
        for seed in 0..200 {
            let once = of(seed, &Scenario::default());
            assert_eq!(of(seed, &once), once, "{seed}");
        }
    }
}
