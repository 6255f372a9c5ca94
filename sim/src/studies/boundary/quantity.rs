//! The table of scenario parameters that `boundary` can vary.

use super::livelock;
use crate::setup::scenario::{FaultSizes, Scenario};
use crate::setup::span::{Span, SpanRange};
use fencepost_clients::Coordinator;
use fencepost_faults::{Family, Micros};
use fencepost_reports::documents::boundary::{Bound, Quantity, Unit, Worse};

pub struct Varied {
    pub name: &'static str,
    pub about: &'static str,
    pub unit: Unit,
    pub worse: Worse,
    /// The search needs one of these fault families, or any family if the list is empty.
    pub families: &'static [Family],
    /// Coordinator that the quantity requires; `None` if there is no such requirement.
    pub only_on: Option<Coordinator>,
    pub range: fn(&Facts) -> (u64, u64),
    pub set: fn(&mut Scenario, u64),
    /// Returns the calculated bounds, the tightest first.
    pub bounds: fn(&Facts) -> Vec<Bound>,
}

#[derive(Clone, Debug)]
pub struct Facts {
    pub coordinator: Coordinator,
    pub scenario: Scenario,
    /// Longest time, without pauses, from the first server's grant to the critical section's end.
    pub longest_hold: Micros,
    /// Maximum time by which a lease may end early, on the server's clock.
    pub tick: Micros,
    /// Shortest time for which servers keep a silent session; `None` for a lock without sessions.
    pub session: Option<Micros>,
    /// `true` if the lock expires a ttl after its grant, independently of a session.
    pub expires: bool,
    /// `true` if a step of a wall clock can end the lease of the lock.
    pub steps_end_leases: bool,
    /// `true` if a server that restarts may have lost grants that have not expired.
    pub loses_grants: bool,
    /// `true` if the storage refuses every request with an old token.
    pub storage_is_fenced: bool,
}

const FORWARD_DELAY: Micros = Micros::from_secs(1);

impl Facts {
    fn silence_allowed(&self) -> Option<Bound> {
        let timeout = self.session?;
        if self.coordinator == Coordinator::Chubby {
            return Some(bound(
                timeout,
                "a KeepAlive is outstanding when a pause begins, and its answer extends the \
                 session's lease, independently of the critical section; the lock-delay follows \
                 the lease",
                "the pause must begin just after an answer, outlast the lease and the lock-delay, \
                 and end within a critical section",
            ));
        }
        if self.coordinator == Coordinator::GemFire {
            let latency = self.scenario.timing.latency.max.0;
            return Some(bound(
                Micros((timeout.0 * 4 / 5).saturating_sub(latency.0)),
                "a heartbeat is answered after half a member timeout, and the next heartbeat \
                 follows, so two of the 2.5 member timeouts remain when a pause begins, \
                 independently of the critical section",
                "the pause must begin just before an answer and outlast the remaining time within \
                 a critical section",
            ));
        }
        Some(bound(
            Micros((timeout.0 * 2 / 3).saturating_sub(FORWARD_DELAY.0)),
            "a process sends a keep-alive at least once in each third of its session timeout, and \
             the keep-alive reaches the server that ends sessions within a second, so the rest of \
             the timeout remains when a pause begins, independently of the critical section",
            "the pause must begin just before the next keep-alive and outlast the rest of the \
             session within a critical section; the servers end sessions only at ticks",
        ))
    }
}

pub static QUANTITIES: &[Varied] = &[
    Varied {
        name: "ttl",
        about: "lifetime of a lock at the server; the lengths of pauses and other faults do not \
                change",
        unit: Unit::Us,
        worse: Worse::Less,
        families: &[],
        only_on: None,
        range: |facts| (facts.scenario.ttl.0.0 / 5, facts.scenario.ttl.0.0 * 4),
        set: |scenario, value| {
            *scenario = Scenario { ttl: Span(Micros(value)), ..keeping_spans(scenario) }
        },
        bounds: |facts| {
            if !facts.expires {
                return Vec::new();
            }
            let hold = if let crate::setup::scenario::Hold::Drawn(range) = facts.scenario.hold {
                range.max.0
            } else {
                return Vec::new();
            };
            let pause = pause_max(&facts.scenario);
            vec![bound(
                hold + pause + facts.tick,
                "the longest critical section plus the longest pause fits into the lease, if at \
                 most one pause hits a critical section",
                "a violation needs one of the longest critical sections and the longest pause near \
                 its end, and both are rare",
            )]
        },
    },
    Varied {
        name: "restart-delay",
        about: "downtime of a restarted server",
        unit: Unit::Us,
        worse: Worse::Less,
        families: &[Family::Restart, Family::All],
        only_on: None,
        range: |facts| (0, facts.scenario.ttl.0.0 * 6 / 5),
        set: |scenario, value| scenario.faults.restart_delay = exactly(value),
        bounds: |facts| {
            if !facts.loses_grants {
                return Vec::new();
            }
            let hold = bound(
                facts.longest_hold,
                "after a downtime as long as the longest critical section, no process still relies \
                 on a grant that the server lost",
                "a violation needs a crash right after a grant and one of the longest critical \
                 sections, and both are rare",
            );
            let ttl = bound(
                facts.scenario.ttl.0,
                "after a downtime of one ttl, every grant that the server lost has expired (Redis \
                 documentation, Distributed Locks with Redis)",
                "these critical sections end before the ttl",
            );
            let mut bounds = Vec::new();
            if !facts.expires || hold.value < ttl.value {
                bounds.push(hold);
            }
            if facts.expires {
                bounds.push(ttl);
            }
            bounds
        },
    },
    Varied {
        name: "drift",
        about: "largest relative drift between the clocks of two hosts, in parts per million",
        unit: Unit::Ppm,
        worse: Worse::More,
        families: &[Family::ClockDrift, Family::All],
        only_on: None,
        range: |facts| (0, (drift_margin(facts) * 3).clamp(1_000, 500_000)),
        set: |scenario, value| scenario.faults.drift_ppm = u32::try_from(value).unwrap_or(u32::MAX),
        bounds: |facts| {
            if !facts.expires {
                return Vec::new();
            }
            vec![ppm(
                drift_margin(facts),
                "the lease outlasts the longest critical section even if the server's clock is \
                 this much faster than the holder's clock",
                "a violation needs fast clocks on the deciding servers and one of the longest \
                 critical sections",
            )]
        },
    },
    Varied {
        name: "pause",
        about: "duration of a pause or suspension of a process",
        unit: Unit::Us,
        worse: Worse::More,
        families: &[Family::Pause, Family::Suspend, Family::All],
        only_on: None,
        range: |facts| (1_000, facts.scenario.ttl.0.0 * 5 / 2),
        set: |scenario, value| scenario.faults.pause = Some(exactly(value)),
        bounds: |facts| {
            if let Some(bound) = facts.silence_allowed() {
                return vec![bound];
            }
            if !facts.expires {
                return Vec::new();
            }
            vec![bound(
                margin(facts),
                "the lease time left after the longest critical section is longer than the pause, \
                 if at most one pause hits a critical section",
                "a violation needs a pause near the end of one of the longest critical sections",
            )]
        },
    },
    Varied {
        name: "lock-delay",
        about: "Chubby's lock-delay after a holder fails",
        unit: Unit::Us,
        worse: Worse::Less,
        families: &[Family::Pause, Family::Suspend, Family::Partition, Family::All],
        only_on: Some(Coordinator::Chubby),
        range: |_| (0, 60_000_000),
        set: |scenario, value| scenario.servers.lock_delay = Some(Span(Micros(value))),
        bounds: |facts| {
            let lease = facts.session.filter(|_| facts.coordinator == Coordinator::Chubby);
            let beyond = |lease: Micros| {
                bound(
                    Micros(pause_max(&facts.scenario).0.saturating_sub(lease.0)),
                    "the session's lease and the lock-delay together outlast the longest pause, if \
                     at most one pause hits a critical section",
                    "a violation needs one of the longest pauses, which begins within a critical \
                     section just after the answer to a KeepAlive",
                )
            };
            lease.map(beyond).into_iter().collect()
        },
    },
    Varied {
        name: "clock-jump",
        about: "size of a step of the servers' clocks",
        unit: Unit::Us,
        worse: Worse::More,
        families: &[Family::ClockJump, Family::All],
        only_on: None,
        range: |facts| (1_000, facts.scenario.ttl.0.0 * 2),
        set: |scenario, value| scenario.faults.clock_jump = Some(exactly(value)),
        bounds: |facts| {
            if !facts.steps_end_leases {
                return Vec::new();
            }
            vec![bound(
                margin(facts),
                "the lease time left after the longest critical section is longer than the step, \
                 if at most one step hits a lease",
                "a violation needs a step on the deciding servers during the lease of one of the \
                 longest critical sections",
            )]
        },
    },
    Varied {
        name: "replication-lag",
        about: "time by which replicas lag behind their primary",
        unit: Unit::Us,
        worse: Worse::More,
        families: &[Family::Failover, Family::ReplicationLag, Family::All],
        only_on: None,
        range: |_| (0, 5_000_000),
        set: |scenario, value| scenario.faults.replication_lag = Some(exactly(value)),
        bounds: |_| {
            vec![bound(
                Micros::ZERO,
                "replication is asynchronous, so any lag can lose the last grant",
                "the primary must fail within the lag after a grant, so a shorter lag needs more \
                 seeds",
            )]
        },
    },
    Varied {
        name: "storage-delay",
        about: "delay added to requests to the storage",
        unit: Unit::Us,
        worse: Worse::More,
        families: &[Family::StorageDelay, Family::All],
        only_on: None,
        range: |facts| (1_000, facts.scenario.ttl.0.0 * 2),
        set: |scenario, value| scenario.faults.storage_delay = Some(exactly(value)),
        bounds: |facts| {
            if facts.storage_is_fenced {
                return Vec::new();
            }
            vec![bound(
                facts.scenario.calls.storage_timeout.0.min(margin(facts)),
                "a writer waits this long for an answer before it gives up and releases the lock, \
                 so a write with a shorter delay arrives before the release",
                "the next holder must be served before the late write arrives",
            )]
        },
    },
    Varied {
        name: "retry-delay",
        about: "constant delay between two attempts to acquire",
        unit: Unit::Us,
        worse: Worse::Less,
        families: &[],
        only_on: None,
        range: |_| (0, 1_000_000),
        set: |scenario, value| scenario.calls.retry = exactly(value),
        bounds: |_| Vec::new(),
    },
    Varied {
        name: "retry-spread",
        about: "difference between the longest and the shortest random delay between two attempts",
        unit: Unit::Us,
        worse: Worse::Less,
        families: &[],
        only_on: None,
        range: |_| (0, 1_000_000),
        set: |scenario, value| {
            scenario.calls.retry.max = Span(Micros(scenario.calls.retry.min.0.0 + value));
        },
        bounds: |facts| livelock::spread(&facts.scenario).into_iter().collect(),
    },
];

pub fn find(name: &str) -> Option<&'static Varied> {
    QUANTITIES.iter().find(|quantity| quantity.name == name)
}

impl Varied {
    pub fn quantity(&self) -> Quantity {
        Quantity { name: self.name.to_owned(), unit: self.unit, worse: self.worse }
    }
}

fn exactly(value: u64) -> SpanRange {
    SpanRange::new(Span(Micros(value)), Span(Micros(value)))
}

fn bound(value: Micros, rule: &str, slack: &str) -> Bound {
    ppm(value.0, rule, slack)
}

fn ppm(value: u64, rule: &str, slack: &str) -> Bound {
    Bound { value, rule: rule.to_owned(), slack: slack.to_owned() }
}

fn margin(facts: &Facts) -> Micros {
    if !facts.expires {
        return Micros(u64::MAX);
    }
    Micros(shortest_lease(facts).saturating_sub(facts.longest_hold.0))
}

fn shortest_lease(facts: &Facts) -> u64 {
    facts.scenario.ttl.0.0.saturating_sub(facts.tick.0)
}

fn drift_margin(facts: &Facts) -> u64 {
    let (lease, hold) =
        (u128::from(shortest_lease(facts)), u128::from(facts.longest_hold.0.max(1)));
    u64::try_from((lease * 1_000_000 / hold).saturating_sub(1_000_000)).unwrap_or(u64::MAX)
}

fn pause_max(scenario: &Scenario) -> Micros {
    scenario.faults.pause.map_or(Micros(scenario.ttl.0.0 * 5 / 2), |range| range.max.0)
}

fn keeping_spans(scenario: &Scenario) -> Scenario {
    let ttl = scenario.ttl.0.0;
    let range = |least: u64, most: u64| {
        Some(SpanRange::new(Span(Micros(least.min(most))), Span(Micros(most))))
    };
    Scenario {
        faults: FaultSizes {
            pause: scenario.faults.pause.or(range(100_000, ttl * 5 / 2)),
            clock_jump: scenario.faults.clock_jump.or(range(ttl / 5, ttl * 2)),
            storage_delay: scenario.faults.storage_delay.or(range(50_000, ttl * 2)),
            partition: scenario.faults.partition.or(range(100_000, ttl * 3 / 2)),
            ..scenario.faults.clone()
        },
        ..scenario.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::scenario::Hold;

    fn facts(longest_hold_us: u64) -> Facts {
        let (scenario, longest_hold) = (Scenario::default(), Micros(longest_hold_us));
        let coordinator = Coordinator::Redis;
        Facts {
            coordinator,
            scenario,
            longest_hold,
            tick: Micros::ZERO,
            session: None,
            expires: true,
            steps_end_leases: true,
            loses_grants: true,
            storage_is_fenced: false,
        }
    }

    fn first(name: &str, facts: &Facts) -> u64 {
        (find(name).unwrap().bounds)(facts)[0].value
    }

    #[test]
    fn names_are_found_and_distinct() {
        for quantity in QUANTITIES {
            assert!(std::ptr::eq(find(quantity.name).unwrap(), quantity), "{}", quantity.name);
        }
        assert!(find("colour").is_none());
    }

    #[test]
    fn the_drift_margin_is_that_of_the_redis_documentation() {
        // A lease of 10 s minus 1 % and 2 ms has 9.898 s of validity: 10 / 9.898 - 1 is 1.0305 %.
        assert_eq!(first("drift", &facts(9_898_000)), 10_305);
    }

    #[test]
    fn a_quantity_that_cannot_break_the_lock_has_no_bound() {
        let bounds = |name: &str, facts: &Facts| (find(name).unwrap().bounds)(facts);
        let own = || facts(8_000_000);
        let lasting = Facts { expires: false, steps_end_leases: false, ..own() };
        for name in ["ttl", "drift", "pause", "clock-jump"] {
            assert!(bounds(name, &lasting).is_empty(), "{name}");
        }
        assert_eq!(bounds("restart-delay", &lasting).len(), 1);
        let kept = Facts { loses_grants: false, ..own() };
        assert!(bounds("restart-delay", &kept).is_empty());
        let fenced = Facts { storage_is_fenced: true, ..own() };
        assert!(bounds("storage-delay", &fenced).is_empty());
        let monotonic = Facts { steps_end_leases: false, ..own() };
        assert!(bounds("clock-jump", &monotonic).is_empty());
        assert_eq!(bounds("pause", &monotonic).len(), 1);
    }

    #[test]
    fn what_a_hold_leaves_of_the_lease_bounds_pauses_and_steps() {
        assert_eq!(first("pause", &facts(8_000_000)), 2_000_000);
        assert_eq!(first("clock-jump", &facts(8_000_000)), 2_000_000);
        assert_eq!(first("restart-delay", &facts(8_000_000)), 8_000_000);
        assert_eq!(
            first("restart-delay", &facts(10_000_000)),
            10_000_000,
            "no tighter than the ttl"
        );
    }

    #[test]
    fn a_server_that_counts_in_whole_seconds_leaves_a_second_less() {
        let facts = Facts { tick: Micros::from_secs(1), ..facts(8_000_000) };
        assert_eq!(first("pause", &facts), 1_000_000);
        assert_eq!(first("drift", &facts), 125_000, "9 s for 8 s");
        let longer = Facts { longest_hold: Micros::from_secs(11), ..facts };
        assert_eq!((first("pause", &longer), first("drift", &longer)), (0, 0));
    }

    #[test]
    fn a_session_outlasts_pauses_by_its_pings_and_not_by_what_a_hold_leaves_of_it() {
        let session = Some(Micros::from_secs(12));
        let with = |longest_hold_us| Facts {
            session,
            expires: false,
            steps_end_leases: false,
            loses_grants: false,
            ..facts(longest_hold_us)
        };
        // The bound is two thirds of the session timeout, minus one second for forwarding.
        assert_eq!(first("pause", &with(8_000_000)), 7_000_000);
        assert_eq!(first("pause", &with(500_000)), 7_000_000, "a short hold is no safer");
        let timeout = Scenario::default().calls.storage_timeout.0.0;
        assert_eq!(
            first("storage-delay", &with(8_000_000)),
            timeout,
            "the writer's patience alone"
        );
        for name in ["ttl", "restart-delay", "drift", "clock-jump"] {
            let bounds = (find(name).unwrap().bounds)(&with(8_000_000));
            assert!(bounds.is_empty(), "{name}: arithmetic knows none");
        }
    }

    #[test]
    fn every_default_range_has_a_width_and_its_ends_make_sense() {
        for quantity in QUANTITIES {
            let (from, to) = (quantity.range)(&facts(8_000_000));
            assert!(from < to, "{}", quantity.name);
            for value in [from, to] {
                let mut scenario = Scenario::default();
                (quantity.set)(&mut scenario, value);
                assert_eq!(scenario.validate(), Ok(()), "{} {value}", quantity.name);
                assert!(
                    value == 0 || scenario != Scenario::default(),
                    "{} {value} changes nothing",
                    quantity.name
                );
            }
        }
    }

    #[test]
    fn another_ttl_leaves_pauses_as_they_are() {
        let mut scenario = Scenario { hold: Hold::UntilValidity, ..Scenario::default() };
        (find("ttl").unwrap().set)(&mut scenario, 1_000_000);
        assert_eq!(scenario.ttl, Span::secs(1));
        assert_eq!(scenario.faults.pause.unwrap().max, Span::secs(25));
    }
}
