use super::rows::Case;
use super::rows::coordinators::{
    almost_a_lease, alone, away_for_long, behind, cut_off, slow_and_alone, slow_and_away,
};
use crate::drawn::violations;
use fencepost::Scenario;
use fencepost::setup::scenario::Strategy;
use fencepost_reports::{Cause, Kind};

struct CauseCase {
    case: Case,
    fault: &'static str,
    kind: Kind,
    cause: Cause,
    seeds: u64,
}

const fn told(
    client: &'static str,
    scenario: fn() -> Scenario,
    (fault, seeds): (&'static str, u64),
    kind: Kind,
    cause: Cause,
) -> CauseCase {
    CauseCase { case: Case { client, scenario }, fault, kind, cause, seeds }
}

/// Uses uniform faults. Stale reads follow the end of a cut, so cuts must end during the run.
fn behind_anywhere() -> Scenario {
    Scenario { strategy: Strategy::Uniform, ..behind() }
}

const PLAIN: fn() -> Scenario = Scenario::default;

const TOLD: &[CauseCase] = &[
    told("memcached-add", almost_a_lease, ("none", 10), Kind::Overlap, Cause::CoarseExpiry),
    told("memcached-add", PLAIN, ("eviction", 10), Kind::LostUpdate, Cause::Eviction),
    told("memcached-add", PLAIN, ("restart", 10), Kind::Overlap, Cause::RestartWithoutDelay),
    told("memcached-add", PLAIN, ("partition", 20), Kind::ForeignRelease, Cause::LostRelease),
    told("memcached-cas", PLAIN, ("restart", 10), Kind::TokenRegression, Cause::RestartDataLoss),
    told("curator-mutex", PLAIN, ("pause", 20), Kind::LostUpdate, Cause::SessionExpired),
    told("curator-fencing", PLAIN, ("pause", 20), Kind::Overlap, Cause::SessionExpired),
    told("curator-mutex", away_for_long, ("restart", 20), Kind::Overlap, Cause::SessionExpired),
    told("kazoo-lock", behind_anywhere, ("partition", 60), Kind::Overlap, Cause::StaleRead),
    told("zookeeper-naive", PLAIN, ("failover", 10), Kind::Stuck, Cause::LostRelease),
    told("curator-unprotected", slow_and_alone, ("lost-reply", 20), Kind::Stuck, Cause::OrphanNode),
    told("curator-mutex", cut_off, ("partition", 20), Kind::LostUpdate, Cause::SessionExpired),
    told("curator-unguaranteed", slow_and_away, ("restart", 40), Kind::Stuck, Cause::LostRelease),
    told("zookeeper-semaphore", slow_and_away, ("restart", 40), Kind::Stuck, Cause::OrphanNode),
    told("zookeeper-lost-watch", alone, ("lost-reply", 10), Kind::Stuck, Cause::LostWatch),
];

fn shows(told: &CauseCase, seed: u64) -> bool {
    let violations = violations(&told.case.drawn(told.fault, seed));
    for violation in &violations {
        let at = (told.case.client, told.fault, seed);
        assert_ne!(violation.cause, Cause::Unexplained, "{at:?}: {}", violation.summary);
    }
    violations.iter().any(|one| (one.kind, one.cause) == (told.kind, told.cause))
}

#[test]
fn every_cause_is_told_and_none_is_missing() {
    for told in TOLD {
        let first = (0..told.seeds).find(|seed| shows(told, *seed));
        println!("{} x {}: {} at {first:?}", told.case.client, told.fault, told.cause);
        assert!(first.is_some(), "{} x {}: {}", told.case.client, told.fault, told.cause);
    }
}
