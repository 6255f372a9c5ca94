//! Predictions of the literature for a lock under a fault ([`expected`]), with their source and
//! section. Some sections about Redlock describe a single server that loses data in a restart or
//! expires keys early because of its clock. These sections also apply to locks on one server.

mod stated;

use crate::explain::cause::Cause;
use crate::judge::finding::Kind;
use crate::record::history::StorageRule;
use fencepost_faults::{FAMILIES, Families, Family};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A prediction from the literature, with its source.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Expected {
    /// Rules that the lock can break according to the source; empty if there are none.
    pub kinds: Vec<Kind>,
    /// Reason for the prediction, in words.
    pub because: String,
    /// Citation of the publication and its section.
    pub source: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conditions {
    /// `true` if a server has replicas even under families without [`Family::has_replicas`].
    pub always_has_replicas: bool,
    /// `true` if a server that restarts within a lease may have lost its grants.
    pub restart_loses: bool,
    /// `true` if holders use the lock until its validity ends.
    pub until_validity: bool,
    /// `true` if a critical section may last as long as an unrenewed lease, or longer.
    pub outlasts_lease: bool,
    pub storage: StorageRule,
}

const REDIS_GUARANTEES: &str =
    "Redis documentation, Distributed Locks with Redis, Safety and Liveness Guarantees";
const REDIS_FAILOVER: &str = "Redis documentation, Distributed Locks with Redis, Why \
 Failover-based Implementations Are Not Enough";
const REDIS_SINGLE: &str = "Redis documentation, Distributed Locks with Redis, Correct \
 Implementation with a Single Instance";
const REDIS_REDLOCK: &str =
    "Redis documentation, Distributed Locks with Redis, The Redlock Algorithm";
const REDIS_CLOCKS: &str =
    "Redis documentation, Distributed Locks with Redis, Is the Algorithm Asynchronous?";
const REDIS_SAFETY: &str = "Redis documentation, Distributed Locks with Redis, Safety Arguments";
const REDIS_LIVENESS: &str =
    "Redis documentation, Distributed Locks with Redis, Liveness Arguments";
const REDIS_FSYNC: &str =
    "Redis documentation, Distributed Locks with Redis, Performance, Crash Recovery and fsync";
const REDIS_DISCLAIMER: &str =
    "Redis documentation, Distributed Locks with Redis, Disclaimer about consistency";
const KLEPPMANN_RESOURCE: &str =
    "Kleppmann 2016, How to do distributed locking, Protecting a resource with a lock";
const KLEPPMANN_FENCING: &str =
    "Kleppmann 2016, How to do distributed locking, Making the lock safe with fencing";
const KLEPPMANN_TIMINGS: &str =
    "Kleppmann 2016, How to do distributed locking, Breaking Redlock with bad timings";
const EVICTION: &str = "Redis documentation, Key eviction, Eviction policies";
const FLUSH: &str = "Redis documentation, FLUSHALL; for the counter, Kleppmann 2016, Making the \
 lock safe with fencing";
const REDLOCK_RB: &str = "antirez, redlock-rb, ClockDriftFactor";
const REPLICATION: &str = "Redis documentation, Redis replication, Read-only replica";
const SUSPENSION: &str = "Linux manual, clock_gettime(2), CLOCK_MONOTONIC; for the pause, \
 Kleppmann 2016, Breaking Redlock with bad timings";

type Grounds = (&'static str, &'static str);

pub fn expected(client: &str, fault: &Families, conditions: Conditions) -> Option<Expected> {
    // Under the other families, the sources assume servers without replicas.
    if conditions.always_has_replicas && !fault.chosen().any(Family::has_replicas) {
        return None;
    }
    // For most locks, the sources discuss only some faults, so there is no prediction for `all`.
    let is_treated = matches!(client, "single-node" | "fencing" | "redlock" | "redlock-parallel");
    if fault.is_swarm() && !is_treated {
        return None;
    }
    let families: Vec<Family> =
        if fault.is_swarm() { accident_families().collect() } else { fault.chosen().collect() };
    let known: Vec<(Vec<Kind>, Grounds)> =
        families.iter().filter_map(|family| of_family(client, *family, conditions)).collect();
    let dangerous = known.iter().find(|(kinds, _)| !kinds.is_empty());
    if dangerous.is_none() && known.len() < families.len() {
        return None;
    }
    let (_, (because, source)) = dangerous.or(known.first())?;
    let kinds: BTreeSet<Kind> = known.iter().flat_map(|(kinds, _)| kinds).copied().collect();
    Some(Expected {
        kinds: kinds.into_iter().collect(),
        because: (*because).to_owned(),
        source: (*source).to_owned(),
    })
}

fn accident_families() -> impl Iterator<Item = Family> {
    let is_switched = |family: &Family| family.is_accident() && *family != Family::All;
    FAMILIES.iter().copied().filter(is_switched)
}

/// The predictions that a lock is safe assume that a lease lasts for the whole critical section.
fn of_family(client: &str, family: Family, conditions: Conditions) -> Option<(Vec<Kind>, Grounds)> {
    let may_expire = conditions.outlasts_lease && is_plain_lease(client);
    stated_of(client, family, conditions).filter(|(kinds, _)| !kinds.is_empty() || !may_expire)
}

/// Returns whether the lock neither renews nor extends its lease, nor states its validity.
pub fn is_plain_lease(client: &str) -> bool {
    ["single-node", "fencing"].contains(&client) || stated::is_plain_lease(client)
}

fn stated_of(client: &str, family: Family, conditions: Conditions) -> Option<(Vec<Kind>, Grounds)> {
    let (breaks_exclusion, grounds) = match client {
        "single-node" | "fencing" => primary(family, conditions)?,
        // The section "Retry on Failure" recommends parallel requests, so `redlock-parallel` is the
        // same algorithm.
        "redlock" | "redlock-parallel" => redlock(family, conditions)?,
        _ => return stated::verdict(client, family),
    };
    let kinds = match (breaks_exclusion, family) {
        (false, _) => Vec::new(),
        (true, _) => {
            let loses_counter = client == "fencing"
                && matches!(family, Family::Failover | Family::Restart | Family::Eviction);
            let counter = if loses_counter { harm_by_counter() } else { harm(client, conditions) };
            [vec![Kind::Overlap], counter].concat()
        }
    };
    let grounds = match (client, family) {
        ("fencing", Family::Failover | Family::Restart) if breaks_exclusion => {
            ("a counter on one node is lost with that node, as is the lock", KLEPPMANN_FENCING)
        }
        ("fencing", Family::Eviction) => {
            ("a flush deletes every key, including the token counter", FLUSH)
        }
        _ => grounds,
    };
    Some((kinds, grounds))
}

fn harm(client: &str, conditions: Conditions) -> Vec<Kind> {
    match (client, conditions.storage) {
        ("fencing", StorageRule::Fenced) => vec![],
        ("fencing", StorageRule::FencedWrites) => vec![Kind::LostUpdate],
        _ => vec![Kind::StaleWrite, Kind::LostUpdate],
    }
}

fn harm_by_counter() -> Vec<Kind> {
    vec![Kind::StaleWrite, Kind::LostUpdate, Kind::TokenRegression, Kind::FencedOut]
}

const SLOW_STORAGE: Grounds = (
    "a process may wait for the storage beyond its lease, and its write may reach the storage even \
     later",
    KLEPPMANN_RESOURCE,
);

const SMALL_DRIFT: Grounds = (
    "the drift is small compared with the lease time left after the critical section",
    REDIS_CLOCKS,
);
const PARTITION: Grounds = ("a partition costs availability, not mutual exclusion", REDIS_LIVENESS);
const CRASH: Grounds =
    ("the lock of a crashed holder is freed when its lease expires", REDIS_GUARANTEES);

const fn breaks(because: &'static str, source: &'static str) -> (bool, Grounds) {
    (true, (because, source))
}

const fn holds(because: &'static str, source: &'static str) -> (bool, Grounds) {
    (false, (because, source))
}

fn primary(family: Family, conditions: Conditions) -> Option<(bool, Grounds)> {
    Some(match family {
        Family::None => holds(
            "a single server grants the lock, and critical sections are shorter than the \
             lease",
            REDIS_SINGLE,
        ),
        Family::Pause | Family::Suspend => {
            breaks("a paused holder does not notice that its lease has expired", KLEPPMANN_RESOURCE)
        }
        Family::Failover => breaks(
            "the primary may fail before the lock has reached the replica that is promoted",
            REDIS_FAILOVER,
        ),
        Family::ReplicationLag => holds(
            "a replica is read-only, so it grants no lock while it follows a primary",
            REPLICATION,
        ),
        Family::ClockDrift => (false, SMALL_DRIFT),
        Family::ClockJump => breaks(
            "keys expire by the wall clock, so a clock step makes a lock expire too early",
            REDIS_DISCLAIMER,
        ),
        Family::Restart if conditions.restart_loses => {
            breaks("a server that restarts empty grants the lock again", REDIS_FSYNC)
        }
        Family::Restart => holds("if every write is synced, a restart loses nothing", REDIS_FSYNC),
        Family::Partition => (false, PARTITION),
        Family::LostReply | Family::LostRequest => holds(
            "a process that does not know whether it was granted the lock releases it",
            REDIS_REDLOCK,
        ),
        Family::StorageDelay => (true, SLOW_STORAGE),
        Family::ClientCrash => (false, CRASH),
        Family::Eviction => {
            breaks("under volatile-ttl, locks are the first keys to be evicted", EVICTION)
        }
        _ => return None,
    })
}

fn redlock(family: Family, conditions: Conditions) -> Option<(bool, Grounds)> {
    Some(match family {
        Family::None => holds("any two majorities share a master", REDIS_SAFETY),
        Family::Pause => breaks(
            "a holder that is paused after it reached the quorum does not notice \
             that its lease has expired",
            KLEPPMANN_TIMINGS,
        ),
        Family::Suspend => breaks(
            "a process whose monotonic clock was suspended still considers its lease valid \
             after it has expired",
            SUSPENSION,
        ),
        Family::ClockDrift if conditions.until_validity => {
            breaks("a drift margin of 1 % covers only 1 % of drift", REDLOCK_RB)
        }
        Family::ClockDrift => (false, SMALL_DRIFT),
        Family::ClockJump => breaks(
            "a master whose clock is stepped forward expires its grant early and grants the \
             lock again",
            KLEPPMANN_TIMINGS,
        ),
        Family::Restart if conditions.restart_loses => {
            breaks("a master that restarts empty grants the lock again", REDIS_FSYNC)
        }
        Family::Restart => holds(
            "a master that stays down for a whole lease, or syncs every write, never \
             grants the lock twice",
            REDIS_FSYNC,
        ),
        Family::Partition => (false, PARTITION),
        Family::LostReply | Family::LostRequest => holds(
            "the release also goes to masters that the client did not believe it had locked",
            REDIS_REDLOCK,
        ),
        Family::SlowServer => {
            holds("the client skips a master that does not answer in time", REDIS_REDLOCK)
        }
        Family::Latency => holds(
            "the client releases a majority that took as long as the lease, so it never enters \
             late",
            REDIS_SAFETY,
        ),
        Family::StorageDelay => (true, SLOW_STORAGE),
        Family::ClientCrash => (false, CRASH),
        Family::Eviction => {
            breaks("a master that evicts its grant grants the lock again", EVICTION)
        }
        _ => return None,
    })
}

/// Returns the names of all locks with a prediction, with repetitions.
pub fn named() -> impl Iterator<Item = &'static str> {
    ["single-node", "fencing", "redlock", "redlock-parallel"].into_iter().chain(stated::clients())
}

impl Expected {
    /// Returns whether the source describes violations with this cause. Most sources do not
    /// restrict the cause, but some sections discuss only one mechanism.
    pub fn describes(&self, cause: Cause) -> bool {
        match self.source.as_str() {
            REDIS_FAILOVER => cause.is_of_failover(),
            KLEPPMANN_RESOURCE | REDIS_SINGLE => !cause.is_of_lock_code(),
            _ => true,
        }
    }

    pub fn is_safe(&self) -> bool {
        self.kinds.is_empty()
    }

    pub fn covers_rule(kind: Kind) -> bool {
        kind != Kind::Unavailable
    }

    pub fn is_unpredicted(&self, kind: Kind) -> bool {
        Expected::covers_rule(kind) && !self.kinds.contains(&kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFAULT: Conditions = Conditions {
        always_has_replicas: false,
        restart_loses: true,
        until_validity: false,
        outlasts_lease: false,
        storage: StorageRule::Fenced,
    };

    fn kinds(client: &str, fault: &str, conditions: Conditions) -> Option<Vec<Kind>> {
        expected(client, &fault.parse().unwrap(), conditions).map(|expected| expected.kinds)
    }

    #[test]
    fn every_family_but_a_few_is_known_for_the_locks_of_the_literature() {
        let silent = |client: &str| -> Vec<&str> {
            let names = FAMILIES.iter().map(|family| family.name());
            names.filter(|family| kinds(client, family, DEFAULT).is_none()).collect()
        };
        assert_eq!(silent("single-node"), ["latency", "slow-server", "operator"]);
        assert_eq!(silent("fencing"), ["latency", "slow-server", "operator"]);
        assert_eq!(silent("redlock"), ["replication-lag", "failover", "operator"]);
    }

    #[test]
    fn where_the_literature_is_silent_nothing_is_claimed() {
        assert_eq!(kinds("redlock", "failover", DEFAULT), None);
        assert_eq!(kinds("redlock", "partition+failover", DEFAULT), None);
        assert_eq!(kinds("a-new-lock", "pause", DEFAULT), None);
    }

    #[test]
    fn fencing_turns_harm_by_a_pause_into_a_mere_hazard() {
        assert_eq!(kinds("fencing", "pause", DEFAULT), Some(vec![Kind::Overlap]));
        assert_eq!(kinds("fencing", "storage-delay", DEFAULT), Some(vec![Kind::Overlap]));
        let unchecked = Conditions { storage: StorageRule::Unchecked, ..DEFAULT };
        assert_eq!(
            kinds("fencing", "storage-delay", unchecked),
            Some(vec![Kind::Overlap, Kind::StaleWrite, Kind::LostUpdate])
        );
    }

    #[test]
    fn the_section_on_failover_describes_no_violation_that_a_promotion_did_not_decide() {
        let failover = expected("single-node", &"failover".parse().unwrap(), DEFAULT).unwrap();
        assert_eq!(failover.source, REDIS_FAILOVER);
        for cause in Cause::ALL {
            assert_eq!(failover.describes(*cause), cause.is_of_failover(), "{cause}");
        }
        let pause = expected("single-node", &"pause".parse().unwrap(), DEFAULT).unwrap();
        assert!(pause.describes(Cause::HolderPause) && pause.describes(Cause::SessionExpired));
        assert!(!pause.describes(Cause::EarlyRelease), "the lock's own code removed the lock");
    }

    #[test]
    fn the_counter_of_the_tokens_goes_with_its_server() {
        for family in ["failover", "restart", "eviction"] {
            let found = kinds("fencing", family, DEFAULT).unwrap();
            assert!(found.contains(&Kind::TokenRegression), "{family}");
        }
        assert!(!kinds("fencing", "pause", DEFAULT).unwrap().contains(&Kind::TokenRegression));
    }

    #[test]
    fn a_sentence_is_about_the_locks_that_it_names() {
        let foreign =
            |client: &str| kinds(client, "pause", DEFAULT).unwrap().contains(&Kind::ForeignRelease);
        assert!(foreign("set-ex-del") && !foreign("set-px-get-del"));
        assert_eq!(kinds("setnx", "client-crash", DEFAULT), Some(vec![Kind::Stuck]));
        assert_eq!(kinds("setnx", "pause", DEFAULT), None, "it has no lease");
        assert_eq!(kinds("redisson-wait", "failover", DEFAULT), None, "it waits for its replicas");
        assert_eq!(kinds("set-ex-del", "all", DEFAULT), None);
    }

    #[test]
    fn a_restart_that_forgets_nothing_is_safe() {
        let synced = Conditions { restart_loses: false, ..DEFAULT };
        assert_eq!(kinds("redlock", "restart", synced), Some(vec![]));
        assert!(
            kinds("redlock", "restart", DEFAULT)
                .is_some_and(|kinds| kinds.contains(&Kind::Overlap))
        );
    }

    #[test]
    fn no_lease_is_called_safe_that_is_shorter_than_the_critical_section() {
        let longer = Conditions { outlasts_lease: true, ..DEFAULT };
        let changes = |client: &str, family: &str| {
            (kinds(client, family, DEFAULT), kinds(client, family, longer))
        };
        for client in ["single-node", "fencing"] {
            assert_eq!(changes(client, "none"), (Some(vec![]), None), "{client}");
            assert_eq!(changes(client, "partition"), (Some(vec![]), None), "{client}");
        }
        assert_eq!(changes("shedlock-jdbc", "client-crash"), (Some(vec![]), None));
        assert_eq!(
            changes("redlock", "none"),
            (Some(vec![]), Some(vec![])),
            "it states a validity"
        );
        assert_eq!(changes("redisson", "client-crash").1, Some(vec![]), "it renews its lease");
        let (before, after) = changes("single-node", "pause");
        assert!(before == after && before.is_some_and(|kinds| !kinds.is_empty()));
    }

    #[test]
    fn replicas_under_a_family_without_them_are_not_discussed() {
        let replicated = Conditions { always_has_replicas: true, ..DEFAULT };
        for family in FAMILIES {
            let found = kinds("single-node", family.name(), replicated);
            let known = kinds("single-node", family.name(), DEFAULT);
            assert_eq!(found, known.filter(|_| family.has_replicas()), "{family}");
        }
        let joined = kinds("single-node", "pause+failover", replicated);
        assert_eq!(joined, kinds("single-node", "pause+failover", DEFAULT));
    }

    #[test]
    fn joined_families_are_as_dangerous_as_all_of_them() {
        let joined = kinds("fencing", "partition+failover", DEFAULT).unwrap();
        assert!(joined.contains(&Kind::TokenRegression));
    }
}
