use super::{
    FOREIGN, HARM, HELD, OVERLAP, Row, STUCK, Slow, TOKENS, anywhere, both, case, delayed_restart,
    overrun, row, slow, slow_messages, synced_always, within,
};
use fencepost::Scenario;
use fencepost::setup::scenario::{
    ClientCalls, FaultSizes, Hold, OldPrimary, Servers, Standby, Timing,
};
use fencepost::setup::span::{Span, SpanRange};
use fencepost_faults::Micros;

pub(crate) fn almost_a_lease() -> Scenario {
    Scenario {
        hold: Hold::Drawn(SpanRange::new(Span::millis(9_200), Span::millis(9_900))),
        ..Scenario::default()
    }
}

fn long_pauses() -> Scenario {
    Scenario {
        held_bound: Some(Span::secs(15)),
        faults: FaultSizes {
            pause: Some(SpanRange::new(Span::secs(20), Span::secs(30))),
            ..FaultSizes::default()
        },
        ..Scenario::default()
    }
}

pub(crate) fn synchronous() -> Scenario {
    Scenario {
        servers: Servers {
            standby: Some(Standby::Synchronous),
            old_primary: OldPrimary::Stopped,
            ..Servers::default()
        },
        ..Scenario::default()
    }
}

pub(crate) fn beyond_the_lock_delay() -> Scenario {
    let pause = Some(SpanRange::new(Span::secs(85), Span::secs(100)));
    Scenario { faults: FaultSizes { pause, ..FaultSizes::default() }, ..Scenario::default() }
}

fn cut(lease_s: u64, hold_ms: (u64, u64), partition_s: (u64, u64)) -> Scenario {
    let partition = Some(SpanRange::new(Span::secs(partition_s.0), Span::secs(partition_s.1)));
    Scenario {
        cycles: 5,
        ttl: Span::secs(lease_s),
        hold: Hold::Drawn(SpanRange::new(Span::millis(hold_ms.0), Span::millis(hold_ms.1))),
        calls: ClientCalls { acquire_timeout: Span::secs(lease_s * 5), ..ClientCalls::default() },
        faults: FaultSizes { partition, ..FaultSizes::default() },
        ..Scenario::default()
    }
}

pub(crate) fn cut_from_the_cell() -> Scenario {
    cut(20, (36_000, 39_900), (35, 45))
}

pub(crate) fn cut_beyond_the_grace_period() -> Scenario {
    Scenario { cycles: 3, ..cut(60, (115_000, 119_000), (130, 150)) }
}

pub(crate) fn alone() -> Scenario {
    Scenario { servers: Servers { ensemble: 1, ..Servers::default() }, ..Scenario::default() }
}

pub(crate) fn slow_and_alone() -> Scenario {
    Scenario {
        cycles: 60,
        hold: Hold::Drawn(SpanRange::new(Span::millis(10), Span::millis(100))),
        timing: Timing {
            latency: SpanRange::new(Span::millis(20), Span::millis(100)),
            ..alone().timing
        },
        ..alone()
    }
}

/// Downtimes are longer than a release's retries and shorter than a session.
pub(crate) fn slow_and_away() -> Scenario {
    Scenario {
        faults: FaultSizes {
            restart_delay: SpanRange::new(Span::secs(6), Span::secs(8)),
            ..slow_and_alone().faults
        },
        ..slow_and_alone()
    }
}

/// Downtimes exceed the session. The retry delay is from an example in Curator's docs.
pub(crate) fn away_for_long() -> Scenario {
    Scenario {
        ttl: Span::secs(4),
        calls: ClientCalls { retry: SpanRange::new(Span::secs(1), Span::secs(1)), ..alone().calls },
        faults: FaultSizes {
            restart_delay: SpanRange::new(Span::secs(6), Span::secs(10)),
            ..alone().faults
        },
        ..alone()
    }
}

/// A cut lasts about as long as a session. Servers serve stale reads while they catch up.
pub(crate) fn behind() -> Scenario {
    Scenario {
        processes: 6,
        ttl: Span::secs(4),
        hold: Hold::Drawn(SpanRange::new(Span::millis(10), Span::secs(1))),
        timing: Timing {
            latency: SpanRange::new(Span(Micros(100)), Span::millis(1)),
            ..Timing::default()
        },
        faults: FaultSizes {
            partition: Some(SpanRange::new(Span::secs(4), Span::secs(6))),
            ..FaultSizes::default()
        },
        ..Scenario::default()
    }
}

pub(crate) fn cut_off() -> Scenario {
    Scenario {
        faults: FaultSizes {
            partition: Some(SpanRange::new(Span::secs(8), Span::secs(10))),
            ..overrun().faults
        },
        servers: Servers { ensemble: 1, ..overrun().servers },
        ..overrun()
    }
}

pub(crate) fn cut_off_from_three() -> Scenario {
    Scenario { servers: Servers { ensemble: 3, ..cut_off().servers }, ..cut_off() }
}

pub(super) const ROWS: &[Row] = &[
    row("E1", case("memcached-add"), "eviction", HARM, Some(case("memcached-cas")), 10),
    row(
        "E1",
        case("memcached-add"),
        "restart",
        OVERLAP,
        Some(within("memcached-add", delayed_restart)),
        10,
    ),
    both("E1", overrun, ["memcached-add", "memcached-cas"], "none", FOREIGN, 5),
    row("E1", case("memcached-add"), "pause", HARM, Some(case("memcached-cas")), 20),
    both("E1", slow_messages, ["memcached-get-delete", "memcached-cas"], "pause", FOREIGN, 400),
    both("E1", almost_a_lease, ["memcached-add", "memcached-cas"], "none", OVERLAP, 10),
    row("E1", case("memcached-cas"), "restart", TOKENS, Some(within("fencing", synced_always)), 10),
    row("E2", case("curator-mutex"), "pause", HARM, Some(case("curator-fencing")), 20),
    row("E2", case("kazoo-lock"), "pause", HARM, Some(case("curator-fencing")), 20),
    row("E2", case("zookeeper-naive"), "failover", STUCK, Some(case("curator-mutex")), 10),
    both("E2", slow_and_alone, ["curator-unprotected", "curator-mutex"], "lost-reply", STUCK, 20),
    both("E2", slow_and_away, ["curator-unguaranteed", "curator-mutex"], "restart", STUCK, 40),
    both("E2", alone, ["zookeeper-lost-watch", "curator-mutex"], "lost-reply", STUCK, 10),
    both("E2", away_for_long, ["curator-mutex", "kazoo-lock"], "restart", HARM, 20),
    both("E2", behind, ["kazoo-lock", "curator-fencing"], "partition", HARM, 60),
    both("E2", cut_off, ["curator-mutex", "curator-suspended"], "partition", HARM, 20),
    both("E2", cut_off_from_three, ["curator-mutex", "curator-fencing"], "partition", HARM, 40),
    both("E3", slow_and_away, ["zookeeper-semaphore", "curator-mutex"], "restart", STUCK, 40),
    row("E3", case("zookeeper-semaphore"), "pause", HARM, Some(case("curator-fencing")), 20),
    row("E5", case("jdbc-5-app-id"), "none", OVERLAP, Some(case("jdbc-5")), 5),
    both("E5", overrun, ["shedlock-jdbc", "pg-advisory"], "none", OVERLAP, 5),
    row("E5", case("pg-advisory"), "restart", HARM, Some(case("shedlock-db-time")), 5),
    row("E5", case("jdbc-5"), "failover", HARM, Some(within("jdbc-5", synchronous)), 20),
    row(
        "E5",
        case("shedlock-jdbc"),
        "failover",
        HARM,
        Some(within("shedlock-jdbc", synchronous)),
        10,
    ),
    both("E5", synchronous, ["pg-advisory", "shedlock-db-time"], "failover", HARM, 20),
    both("E5", long_pauses, ["select-for-update", "select-for-update-timeout"], "pause", HELD, 20),
    row("E5", case("mysql-get-lock"), "restart", HARM, Some(case("shedlock-db-time")), 5),
    row("E7", case("etcd-mutex"), "pause", HARM, Some(case("etcd-mutex-fencing")), 20),
    row("E7", case("etcd-lock-api"), "pause", HARM, Some(case("etcd-mutex-fencing")), 10),
    row("E7", case("etcd-mutex-done"), "storage-delay", HARM, Some(case("etcd-mutex-fencing")), 10),
    row("E8", case("chubby-no-delay"), "pause", HARM, Some(case("chubby")), 20),
    both("E8", beyond_the_lock_delay, ["chubby", "chubby-sequencer"], "pause", HARM, 20),
    row("E8", case("chubby"), "storage-delay", HARM, Some(case("chubby-sequencer")), 10),
    both("E8", cut_from_the_cell, ["chubby-no-delay", "chubby-checked"], "partition", HARM, 40),
    both(
        "E8",
        cut_beyond_the_grace_period,
        ["chubby-no-delay", "chubby-checked"],
        "partition",
        HARM,
        40,
    ),
    row("E8", case("chubby-checked"), "storage-delay", HARM, Some(case("chubby-sequencer")), 10),
    row("E9", case("gemfire"), "pause", HARM, Some(case("gemfire-token")), 20),
    row("E9", case("gemfire-lease"), "pause", HARM, Some(case("gemfire-token")), 20),
    both("E9", overrun, ["gemfire-lease", "gemfire"], "none", HARM, 5),
    row("E9", case("gemfire"), "storage-delay", HARM, Some(case("gemfire-token")), 10),
];

pub(super) const LOCK_DELAY: Slow =
    slow("E8", anywhere, ["chubby", "chubby-no-delay"], "client-crash");

/// `memcached-cas` requests a second more than it needs. Waiters may wait for that second too.
pub(super) const LATE_EXPIRY: Slow =
    slow("E1", anywhere, ["memcached-cas", "memcached-add"], "client-crash");
