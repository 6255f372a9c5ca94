//! The table: which lock shows what under which fault, and which lock, or which setting, does not.
//!
//! The letters follow docs/protocols.md.

use fencepost::Scenario;
use fencepost::setup::scenario::{Hold, MastersOrder, Persistence};
use fencepost::setup::span::{Span, SpanRange};
use fencepost_reports::{Kind, StorageRule, Workload};

/// One anomaly.
pub(crate) struct Row {
    /// Which protocol it belongs to.
    pub(crate) id: &'static str,
    /// The lock and what it runs in.
    pub(crate) flawed: Case,
    /// The same without the mistake; `None` if nothing of the kind can be had.
    pub(crate) twin: Option<Case>,
    /// The fault family.
    pub(crate) fault: &'static str,
    /// What the flawed one shows, one of them at least, and the twin never.
    pub(crate) kinds: &'static [Kind],
    /// In how many seeds from 0 the test looks for it.
    pub(crate) seeds: u64,
}

/// A lock and what it runs in.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    /// The lock, as `--client` takes it.
    pub(crate) client: &'static str,
    /// What differs from the built-in scenario.
    pub(crate) scenario: fn() -> Scenario,
}

/// A lock that makes less of its time than another.
pub(crate) struct Slow {
    /// Which protocol it belongs to.
    pub(crate) id: &'static str,
    /// The one that leaves the lock idle while it is wanted.
    pub(crate) flawed: Case,
    /// The one that does so less.
    pub(crate) twin: Case,
    /// The fault family.
    pub(crate) fault: &'static str,
}

const OVERLAP: &[Kind] = &[Kind::Overlap];
const STUCK: &[Kind] = &[Kind::Stuck];
const HELD: &[Kind] = &[Kind::HeldForever];
const FOREIGN: &[Kind] = &[Kind::ForeignRelease];
const HARM: &[Kind] = &[Kind::StaleWrite, Kind::LostUpdate];
const LOST_UPDATE: &[Kind] = &[Kind::LostUpdate];
const TOKENS: &[Kind] = &[Kind::TokenRegression];
const FENCED_OUT: &[Kind] = &[Kind::FencedOut];
const OVERSOLD: &[Kind] = &[Kind::Oversold];
const DUPLICATE: &[Kind] = &[Kind::DuplicateNumber];

const fn case(client: &'static str) -> Case {
    Case { client, scenario: Scenario::default }
}

const fn within(client: &'static str, scenario: fn() -> Scenario) -> Case {
    Case { client, scenario }
}

const fn row(
    id: &'static str,
    flawed: Case,
    fault: &'static str,
    kinds: &'static [Kind],
    twin: Option<Case>,
    seeds: u64,
) -> Row {
    Row { id, flawed, twin, fault, kinds, seeds }
}

/// Holders work longer than a lease.
fn overrun() -> Scenario {
    Scenario {
        hold: Hold::Drawn(SpanRange::new(Span::secs(11), Span::secs(19))),
        ..Scenario::default()
    }
}

/// Holders work almost as long as a lease, and are done before it is over.
fn almost_a_lease() -> Scenario {
    Scenario {
        hold: Hold::Drawn(SpanRange::new(Span::millis(9_200), Span::millis(9_900))),
        ..Scenario::default()
    }
}

/// One process does not come back from its business code for ten minutes; nobody may keep the lock
/// longer than eight leases.
fn hanging() -> Scenario {
    Scenario {
        hang: Some(Span::secs(600)),
        held_bound: Some(Span::secs(80)),
        ..Scenario::default()
    }
}

/// Nobody may keep the lock for longer than a ttl and a half, and pauses may take twice as long.
fn long_pauses() -> Scenario {
    Scenario {
        held_bound: Some(Span::secs(15)),
        pause: Some(SpanRange::new(Span::secs(20), Span::secs(30))),
        ..Scenario::default()
    }
}

/// Holders stay as long as the lease says; clocks drift apart by up to 3 %.
fn to_the_end() -> Scenario {
    Scenario { hold: Hold::UntilValidity, ..Scenario::default() }
}

/// The same, with clocks that drift apart by up to 1 %.
fn to_the_end_within_the_margin() -> Scenario {
    Scenario { drift_ppm: 10_000, ..to_the_end() }
}

/// One server, so that every lost reply is one of it.
fn alone() -> Scenario {
    Scenario { ensemble: 1, ..Scenario::default() }
}

/// The same, with messages that take long beside the holds: much is under way when a reply is lost.
fn slow_and_alone() -> Scenario {
    Scenario {
        cycles: 60,
        hold: Hold::Drawn(SpanRange::new(Span::millis(10), Span::millis(100))),
        latency: SpanRange::new(Span::millis(20), Span::millis(100)),
        ..alone()
    }
}

/// The same, and the server stays away for longer than a release is tried again, and for less than a
/// session lasts.
fn slow_and_away() -> Scenario {
    Scenario { restart_delay: SpanRange::new(Span::secs(6), Span::secs(8)), ..slow_and_alone() }
}

fn delayed_restart() -> Scenario {
    Scenario {
        restart_delay: SpanRange::new(Span::millis(10_500), Span::secs(15)),
        ..Scenario::default()
    }
}

fn synced_every_second() -> Scenario {
    Scenario { persistence: Persistence::AofEverysec, ..Scenario::default() }
}

fn synced_always() -> Scenario {
    Scenario { persistence: Persistence::AofAlways, ..Scenario::default() }
}

fn unchecked() -> Scenario {
    Scenario { storage: StorageRule::Unchecked, ..Scenario::default() }
}

/// Holders write when their lease runs out, and the storage looks a moment before it writes.
fn check_then_write() -> Scenario {
    Scenario { storage: StorageRule::CheckThenWrite, ..at_the_end() }
}

fn at_the_end() -> Scenario {
    let hold = Hold::Drawn(SpanRange::new(Span::secs(10), Span::millis(10_050)));
    Scenario { processes: 6, hold, ..Scenario::default() }
}

/// Few acquisitions, so that few random tokens are in the way.
fn few_fenced_writes() -> Scenario {
    Scenario {
        cycles: 2,
        hold: Hold::Drawn(SpanRange::new(Span::secs(2), Span::secs(8))),
        fault_window: SpanRange::new(Span::secs(1), Span::secs(12)),
        storage: StorageRule::FencedWrites,
        ..Scenario::default()
    }
}

fn seckill() -> Scenario {
    Scenario { workload: Workload::Seckill, ..Scenario::default() }
}

fn sequence() -> Scenario {
    Scenario { workload: Workload::Sequence, ..Scenario::default() }
}

/// Holders work for two leases; one that takes the lock again does so half-way, when it has run
/// out.
fn long_overrun() -> Scenario {
    Scenario {
        hold: Hold::Drawn(SpanRange::new(Span::secs(20), Span::secs(20))),
        ..Scenario::default()
    }
}

/// Eight processes and slow messages, so that two of them are between the same two steps now and
/// then.
fn slow_crowd() -> Scenario {
    Scenario {
        processes: 8,
        latency: SpanRange::new(Span::millis(1), Span::millis(30)),
        ..Scenario::default()
    }
}

fn slow_messages() -> Scenario {
    Scenario { latency: SpanRange::new(Span::millis(5), Span::millis(60)), ..Scenario::default() }
}

/// A lease that is short against what a master may take to answer.
fn short_lease() -> Scenario {
    let ms = Span::millis;
    Scenario {
        ttl: ms(100),
        node_timeout: ms(100),
        hold: Hold::Drawn(SpanRange::new(ms(10), ms(90))),
        fault_window: SpanRange::new(ms(10), Span::secs(2)),
        extra_latency: Some(SpanRange::new(ms(20), ms(90))),
        cycles: 40,
        ..Scenario::default()
    }
}

/// Five processes, the probe among them, that begin at the same instant, each with another master,
/// over a network that always takes as long; and that try again after the same delay.
fn in_step() -> Scenario {
    let ms = Span::millis;
    Scenario {
        processes: 4,
        cycles: 3,
        hold: Hold::Drawn(SpanRange::new(ms(10), ms(10))),
        think: SpanRange::new(ms(0), ms(0)),
        retry: SpanRange::new(ms(50), ms(50)),
        latency: SpanRange::new(ms(2), ms(2)),
        masters_order: MastersOrder::Rotated,
        ..Scenario::default()
    }
}

/// The same with a random delay, of the same length on average.
fn out_of_step() -> Scenario {
    Scenario { retry: SpanRange::new(Span::millis(0), Span::millis(100)), ..in_step() }
}

/// Ten processes that want the lock all the time, and hold it for a moment.
fn crowd() -> Scenario {
    let ms = Span::millis;
    Scenario {
        processes: 10,
        cycles: 5,
        hold: Hold::Drawn(SpanRange::new(ms(5), ms(10))),
        think: SpanRange::new(ms(1), ms(1)),
        retry: SpanRange::new(ms(0), ms(100)),
        ..Scenario::default()
    }
}

/// Processes that split the votes, and do so again as they try again after the same delay.
pub(crate) const IN_STEP: Slow = Slow {
    id: "C7",
    flawed: within("redlock", in_step),
    twin: within("redlock", out_of_step),
    fault: "none",
};

/// What is a matter of time and not of safety.
pub(crate) const SLOW: &[Slow] = &[
    IN_STEP,
    Slow {
        id: "C7",
        flawed: within("redlock-no-random-delay", crowd),
        twin: within("redlock-parallel", crowd),
        fault: "none",
    },
    Slow {
        id: "C7",
        flawed: within("node-redlock", crowd),
        twin: within("redlock-parallel", crowd),
        fault: "none",
    },
    Slow {
        id: "C8",
        flawed: case("redlock-unlock-answered"),
        twin: case("redlock"),
        fault: "lost-reply",
    },
    Slow { id: "C8", flawed: case("redlock-py"), twin: case("redlock"), fault: "lost-reply" },
    Slow { id: "B2", flawed: case("redisson"), twin: case("single-node"), fault: "partition" },
    Slow { id: "B3", flawed: case("redisson-fair"), twin: case("redisson"), fault: "client-crash" },
];

/// Every row.
pub(crate) const ROWS: &[Row] = &[
    row("A1", case("setnx"), "client-crash", STUCK, Some(case("set-ex-del")), 10),
    row("A2", case("setnx-expire"), "pause", STUCK, Some(case("set-ex-del")), 40),
    row(
        "A3",
        within("setnx-stale-del", slow_crowd),
        "client-crash",
        OVERLAP,
        Some(within("setnx-stale-compare", slow_crowd)),
        40,
    ),
    row("A4", case("setnx-getset"), "clock-jump", OVERLAP, None, 20),
    row(
        "A5",
        within("setnx-getset-expiry", overrun),
        "none",
        FOREIGN,
        Some(within("setnx-getset-expiry-owner", overrun)),
        5,
    ),
    row(
        "A6",
        within("jedis-getset", overrun),
        "none",
        FOREIGN,
        Some(within("jedis-getset-owner", overrun)),
        5,
    ),
    row("A7", case("set-ex-del"), "pause", FOREIGN, Some(case("single-node")), 20),
    row(
        "A8",
        within("set-px-get-del", slow_messages),
        "pause",
        FOREIGN,
        Some(within("single-node", slow_messages)),
        400,
    ),
    row(
        "A8",
        within("thread-id-get-del", overrun),
        "none",
        FOREIGN,
        Some(within("set-px-get-del", overrun)),
        5,
    ),
    row("A9", case("single-node"), "pause", OVERLAP, None, 10),
    row("A9", case("single-node"), "failover", OVERLAP, None, 10),
    row(
        "A9",
        case("single-node"),
        "restart",
        OVERLAP,
        Some(within("single-node", synced_always)),
        10,
    ),
    row("A9", case("single-node"), "clock-jump", OVERLAP, None, 10),
    row("A9", case("single-node"), "eviction", OVERLAP, None, 10),
    row(
        "A9",
        within("single-node", overrun),
        "none",
        OVERLAP,
        Some(within("watchdog", overrun)),
        5,
    ),
    row("A10", case("watchdog"), "pause", OVERLAP, None, 10),
    row(
        "A10",
        within("watchdog-expire", overrun),
        "none",
        OVERLAP,
        Some(within("watchdog", overrun)),
        5,
    ),
    row(
        "A10",
        within("watchdog", hanging),
        "none",
        HELD,
        Some(within("watchdog-capped", hanging)),
        5,
    ),
    row("A10", case("watchdog-unstopped"), "client-crash", STUCK, Some(case("watchdog")), 10),
    row("A11", within("lua-extend-unchecked", overrun), "pause", OVERLAP, None, 10),
    row("A12", case("reentrant-by-value"), "none", OVERLAP, Some(case("reentrant-counted")), 5),
    row("A13", case("checked"), "storage-delay", HARM, Some(case("fencing")), 10),
    row(
        "B1",
        within("redisson-lease", long_overrun),
        "none",
        OVERLAP,
        Some(within("redisson", long_overrun)),
        5,
    ),
    row("B1", case("redisson"), "failover", OVERLAP, None, 10),
    row("B1", case("redisson"), "pause", OVERLAP, None, 10),
    row("B3", case("redisson-fair"), "client-crash", STUCK, Some(case("redisson")), 10),
    row("B4", case("redisson-redlock"), "pause", OVERLAP, None, 10),
    row(
        "B5",
        within("spring-registry", long_overrun),
        "none",
        OVERLAP,
        Some(within("watchdog", long_overrun)),
        5,
    ),
    row("B5", case("spring-registry"), "partition", OVERLAP, Some(case("single-node")), 40),
    row("C2", case("redlock"), "restart", OVERLAP, Some(within("redlock", delayed_restart)), 10),
    row("C3", case("redlock"), "pause", HARM, Some(case("fencing")), 20),
    row(
        "C4",
        within("redlock", to_the_end),
        "clock-drift",
        OVERLAP,
        Some(within("redlock", to_the_end_within_the_margin)),
        10,
    ),
    row("C4", case("redlock"), "clock-jump", OVERLAP, None, 20),
    row(
        "C5",
        within("redlock-no-validity-check", short_lease),
        "latency",
        OVERLAP,
        Some(within("redlock", short_lease)),
        40,
    ),
    row("C5", case("redlock"), "suspend", OVERLAP, None, 10),
    row(
        "C6",
        within("redlock", synced_every_second),
        "restart",
        OVERLAP,
        Some(within("redlock", synced_always)),
        200,
    ),
    row("C7", within("redlock", in_step), "none", STUCK, Some(within("redlock", out_of_step)), 5),
    row("D1", within("fencing", unchecked), "pause", HARM, Some(case("fencing")), 10),
    row("D2", case("fencing"), "failover", TOKENS, None, 10),
    row(
        "D4",
        within("fencing", check_then_write),
        "none",
        HARM,
        Some(within("fencing", at_the_end)),
        5,
    ),
    row("D5", case("redlock-fencing"), "none", TOKENS, Some(case("fencing")), 5),
    row("D5", case("redlock-fencing"), "none", FENCED_OUT, Some(case("fencing")), 40),
    row(
        "D5",
        within("redlock-fencing", few_fenced_writes),
        "pause",
        HARM,
        Some(case("fencing")),
        60,
    ),
    row(
        "D6",
        within("fencing", few_fenced_writes),
        "pause",
        LOST_UPDATE,
        Some(case("fencing")),
        60,
    ),
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
    row(
        "E5",
        within("select-for-update", long_pauses),
        "pause",
        HELD,
        Some(within("select-for-update-timeout", long_pauses)),
        20,
    ),
    row("E7", case("etcd-mutex"), "pause", HARM, Some(case("etcd-mutex-fencing")), 20),
    row("E7", case("etcd-lock-api"), "pause", HARM, Some(case("etcd-mutex-fencing")), 10),
    row("E7", case("etcd-mutex-done"), "storage-delay", HARM, Some(case("etcd-mutex-fencing")), 10),
    row("F1", case("single-node"), "pause", LOST_UPDATE, Some(case("fencing")), 10),
    row(
        "F2",
        within("single-node", seckill),
        "pause",
        OVERSOLD,
        Some(within("fencing", seckill)),
        40,
    ),
    row(
        "F3",
        within("single-node", sequence),
        "pause",
        DUPLICATE,
        Some(within("fencing", sequence)),
        10,
    ),
];
