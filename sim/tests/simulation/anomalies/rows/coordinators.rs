use super::{
    FOREIGN, HARM, HELD, OVERLAP, Row, STUCK, Slow, TOKENS, anywhere, case, delayed_restart,
    overrun, row, slow_messages, synced_always, within,
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

/// Downtimes are longer than the session. The retry delay is that of the example in Curator's
/// documentation.
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
    row(
        "E1",
        within("memcached-add", overrun),
        "none",
        FOREIGN,
        Some(within("memcached-cas", overrun)),
        5,
    ),
    row("E1", case("memcached-add"), "pause", HARM, Some(case("memcached-cas")), 20),
    row(
        "E1",
        within("memcached-get-delete", slow_messages),
        "pause",
        FOREIGN,
        Some(within("memcached-cas", slow_messages)),
        400,
    ),
    row(
        "E1",
        within("memcached-add", almost_a_lease),
        "none",
        OVERLAP,
        Some(within("memcached-cas", almost_a_lease)),
        10,
    ),
    row("E1", case("memcached-cas"), "restart", TOKENS, Some(within("fencing", synced_always)), 10),
    row("E2", case("curator-mutex"), "pause", HARM, Some(case("curator-fencing")), 20),
    row("E2", case("kazoo-lock"), "pause", HARM, Some(case("curator-fencing")), 20),
    row("E2", case("zookeeper-naive"), "failover", STUCK, Some(case("curator-mutex")), 10),
    row(
        "E2",
        within("curator-unprotected", slow_and_alone),
        "lost-reply",
        STUCK,
        Some(within("curator-mutex", slow_and_alone)),
        20,
    ),
    row(
        "E2",
        within("curator-unguaranteed", slow_and_away),
        "restart",
        STUCK,
        Some(within("curator-mutex", slow_and_away)),
        40,
    ),
    row(
        "E2",
        within("zookeeper-lost-watch", alone),
        "lost-reply",
        STUCK,
        Some(within("curator-mutex", alone)),
        10,
    ),
    row(
        "E2",
        within("curator-mutex", away_for_long),
        "restart",
        HARM,
        Some(within("kazoo-lock", away_for_long)),
        20,
    ),
    row(
        "E2",
        within("kazoo-lock", behind),
        "partition",
        HARM,
        Some(within("curator-fencing", behind)),
        60,
    ),
    row(
        "E2",
        within("curator-mutex", cut_off),
        "partition",
        HARM,
        Some(within("curator-suspended", cut_off)),
        20,
    ),
    row(
        "E2",
        within("curator-mutex", cut_off_from_three),
        "partition",
        HARM,
        Some(within("curator-fencing", cut_off_from_three)),
        40,
    ),
    row(
        "E3",
        within("zookeeper-semaphore", slow_and_away),
        "restart",
        STUCK,
        Some(within("curator-mutex", slow_and_away)),
        40,
    ),
    row("E3", case("zookeeper-semaphore"), "pause", HARM, Some(case("curator-fencing")), 20),
    row("E5", case("jdbc-5-app-id"), "none", OVERLAP, Some(case("jdbc-5")), 5),
    row(
        "E5",
        within("shedlock-jdbc", overrun),
        "none",
        OVERLAP,
        Some(within("pg-advisory", overrun)),
        5,
    ),
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
    row(
        "E5",
        within("pg-advisory", synchronous),
        "failover",
        HARM,
        Some(within("shedlock-db-time", synchronous)),
        20,
    ),
    row(
        "E5",
        within("select-for-update", long_pauses),
        "pause",
        HELD,
        Some(within("select-for-update-timeout", long_pauses)),
        20,
    ),
    row("E5", case("mysql-get-lock"), "restart", HARM, Some(case("shedlock-db-time")), 5),
    row("E7", case("etcd-mutex"), "pause", HARM, Some(case("etcd-mutex-fencing")), 20),
    row("E7", case("etcd-lock-api"), "pause", HARM, Some(case("etcd-mutex-fencing")), 10),
    row("E7", case("etcd-mutex-done"), "storage-delay", HARM, Some(case("etcd-mutex-fencing")), 10),
    row("E8", case("chubby-no-delay"), "pause", HARM, Some(case("chubby")), 20),
    row(
        "E8",
        within("chubby", beyond_the_lock_delay),
        "pause",
        HARM,
        Some(within("chubby-sequencer", beyond_the_lock_delay)),
        20,
    ),
    row("E8", case("chubby"), "storage-delay", HARM, Some(case("chubby-sequencer")), 10),
    row(
        "E8",
        within("chubby-no-delay", cut_from_the_cell),
        "partition",
        HARM,
        Some(within("chubby-checked", cut_from_the_cell)),
        40,
    ),
    row(
        "E8",
        within("chubby-no-delay", cut_beyond_the_grace_period),
        "partition",
        HARM,
        Some(within("chubby-checked", cut_beyond_the_grace_period)),
        40,
    ),
    row("E8", case("chubby-checked"), "storage-delay", HARM, Some(case("chubby-sequencer")), 10),
    row("E9", case("gemfire"), "pause", HARM, Some(case("gemfire-token")), 20),
    row("E9", case("gemfire-lease"), "pause", HARM, Some(case("gemfire-token")), 20),
    row("E9", within("gemfire-lease", overrun), "none", HARM, Some(within("gemfire", overrun)), 5),
    row("E9", case("gemfire"), "storage-delay", HARM, Some(case("gemfire-token")), 10),
];

pub(super) const LOCK_DELAY: Slow = Slow {
    id: "E8",
    flawed: within("chubby", anywhere),
    twin: within("chubby-no-delay", anywhere),
    fault: "client-crash",
};

/// `memcached-cas` requests one second more than it needs, so waiters may wait up to a second
/// longer.
pub(super) const LATE_EXPIRY: Slow = Slow {
    id: "E1",
    flawed: within("memcached-cas", anywhere),
    twin: within("memcached-add", anywhere),
    fault: "client-crash",
};
