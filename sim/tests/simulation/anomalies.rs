//! The anomalies in docs/anomalies.md must appear within the number of seeds that their rows state,
//! and not in the lock's safe twin. `FENCEPOST_SEEDS` overrides this number, except for written
//! plans.

mod causes;
mod measure;
mod order;
mod progress;
pub(crate) mod rows;

use fencepost::Scenario;
use fencepost_faults::SimTime;
use fencepost_testing::differential::number;
use measure::{seeds_to_first, shown_under, shown_under_plan};
use order::overtakings;
use progress::{Progress, history};
use rows::written::WRITTEN;
use rows::{Case, IN_STEP, Row, SLOW, rows};

fn seeds(row: &Row) -> u64 {
    number("FENCEPOST_SEEDS").unwrap_or(row.seeds)
}

#[test]
fn every_anomaly_is_found() {
    for row in rows() {
        let first = seeds_to_first(row.flawed, row.fault, row.kinds, 0..seeds(row));
        let name = format!("{} {} x {}", row.id, row.flawed.client, row.fault);
        println!("{name}: {first:?}");
        assert!(first.is_some(), "{name} shows none of {:?}", row.kinds);
    }
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn every_twin_is_quiet_over_the_same_seeds() {
    for row in rows() {
        let Some(twin) = row.twin else { continue };
        let name = format!("{} {} x {}", row.id, twin.client, row.fault);
        let mut exercised = 0;
        for seed in 0..seeds(row) {
            let shown = shown_under(twin, row.fault, seed);
            assert!(!shown.any_of(row.kinds), "{name}, seed {seed}: {:?}", shown.kinds);
            exercised += u64::from(shown.exercised);
        }
        assert!(exercised * 2 > seeds(row), "{name}: {exercised} runs prove anything");
    }
}

#[test]
fn every_anomaly_of_a_written_plan_is_found_and_its_twin_is_quiet() {
    for row in WRITTEN {
        let name = format!("{} {}: {}", row.id, row.flawed.client, row.about);
        let shown: Vec<_> =
            (0..row.seeds).map(|seed| shown_under_plan(row, row.flawed, seed)).collect();
        let first = shown.iter().position(|shown| shown.any_of(row.kinds));
        println!("{name}: {first:?}");
        assert!(first.is_some(), "{name} shows none of {:?}", row.kinds);
        assert!(shown.iter().all(|shown| shown.causes.iter().all(|one| *one == row.cause)));
        let quiet: Vec<_> =
            (0..row.seeds).map(|seed| shown_under_plan(row, row.twin, seed)).collect();
        assert!(
            !quiet.iter().any(|shown| shown.any_of(row.kinds)),
            "{name}: its twin is not quiet"
        );
        let exercised = quiet.iter().filter(|shown| shown.exercised).count() as u64;
        assert!(exercised * 2 > row.seeds, "{name}: {exercised} runs of the twin prove anything");
    }
}

fn progress(case: Case, fault: &str) -> Progress {
    let mut progress = Progress::default();
    (0..10).for_each(|seed| progress.add(&history(case, fault, seed)));
    println!("{} x {fault}: {progress:?}", case.client);
    progress
}

#[test]
fn every_slow_lock_leaves_more_of_the_wanted_time_idle_than_its_twin() {
    for row in SLOW {
        let (flawed, twin) = (progress(row.flawed, row.fault), progress(row.twin, row.fault));
        assert!(flawed.idle_permille() > twin.idle_permille(), "{}: {flawed:?} {twin:?}", row.id);
    }
}

#[test]
fn processes_in_step_split_the_votes_again_and_again() {
    let (flawed, twin) =
        (progress(IN_STEP.flawed, IN_STEP.fault), progress(IN_STEP.twin, IN_STEP.fault));
    assert_eq!((flawed.split_permille(), flawed.granted), (1_000, 0));
    assert!(
        twin.split_permille() < 700 && twin.missed == 0 && twin.idle_us_max < 1_000_000,
        "{twin:?}"
    );
}

/// memcached may end a lease up to a second early, so `memcached-cas` requests 11 s.
#[test]
fn a_whole_second_expiry_that_is_late_lets_waiters_wait_up_to_a_second_longer() {
    let longest = |client| progress(Case { client, scenario: Scenario::default }, "client-crash");
    let (late, early) = (longest("memcached-cas"), longest("memcached-add"));
    let retry_us = 250_000;
    assert!(early.idle_us_max < 10_000_000 + retry_us, "{early:?}");
    assert!(10_000_000 + retry_us < late.idle_us_max, "{late:?}");
    assert!(late.idle_us_max < 11_000_000 + retry_us, "{late:?}");
    for seed in 0..10 {
        let case = Case { client: "memcached-cas", scenario: Scenario::default };
        assert_eq!(shown_under(case, "client-crash", seed).kinds, [], "seed {seed}");
    }
}

const MARGIN_US: u64 = 20_000;

fn overtakings_of(client: &'static str, until_s: u64) -> usize {
    let (case, until) =
        (Case { client, scenario: Scenario::default }, SimTime(until_s * 1_000_000));
    let overtaken =
        (0..10).map(|seed| overtakings(&history(case, "none", seed), MARGIN_US, until)).sum();
    println!("{client}: {overtaken} overtake within {until_s} s");
    overtaken
}

/// The fair queue removes live waiters only after being non-empty for a wait (30 s) plus a lease.
#[test]
fn a_fair_lock_serves_in_the_order_of_asking_for_a_while_and_an_unfair_one_does_not() {
    assert_eq!(overtakings_of("redisson-fair", 30), 0);
    assert!(overtakings_of("redisson", 30) > 0);
}

/// Each grant shortens all timeouts by one wait, and a new waiter gets the last waiter's timeout
/// plus one wait. The timeout at the head of a queue that is never empty therefore stays the same.
#[test]
fn a_fair_lock_throws_live_waiters_out_of_a_queue_that_is_never_empty() {
    assert!(overtakings_of("redisson-fair", 1_800) > 0);
}
