#[path = "rows/coordinators.rs"]
pub(crate) mod coordinators;
#[path = "rows/written.rs"]
pub(crate) mod written;

use fencepost::setup::lengths::Length;
use fencepost::setup::scenario::{
    ClientCalls, FaultSizes, Hold, MastersOrder, Persistence, Servers, Strategy, Timing,
};
use fencepost::setup::span::{Span, SpanRange};
use fencepost::{RunSpec, Scenario};
use fencepost_faults::{Families, Seed};
use fencepost_reports::{Kind, StorageRule, Workload};
use std::rc::Rc;

pub(crate) struct Row {
    pub(crate) id: &'static str,
    pub(crate) flawed: Case,
    pub(crate) twin: Option<Case>,
    pub(crate) fault: &'static str,
    pub(crate) kinds: &'static [Kind],
    pub(crate) seeds: u64,
}

#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) client: &'static str,
    pub(crate) scenario: fn() -> Scenario,
}

impl Case {
    pub(crate) fn drawn(self, fault: &str, seed: u64) -> RunSpec {
        let families: Families = fault.parse().expect("the family is in the table");
        let client = fencepost_clients::find(self.client).expect("the lock is in the table");
        RunSpec::draw(Seed(seed), client, &families, Rc::new((self.scenario)()))
    }
}

pub(crate) struct Slow {
    pub(crate) id: &'static str,
    pub(crate) flawed: Case,
    pub(crate) twin: Case,
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
const WRONG_ANSWER: &[Kind] = &[Kind::WrongAnswer];

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

const fn both(
    id: &'static str,
    scenario: fn() -> Scenario,
    [flawed, twin]: [&'static str; 2],
    fault: &'static str,
    kinds: &'static [Kind],
    seeds: u64,
) -> Row {
    row(id, within(flawed, scenario), fault, kinds, Some(within(twin, scenario)), seeds)
}

const fn slow(
    id: &'static str,
    scenario: fn() -> Scenario,
    [flawed, twin]: [&'static str; 2],
    fault: &'static str,
) -> Slow {
    Slow { id, flawed: within(flawed, scenario), twin: within(twin, scenario), fault }
}

fn overrun() -> Scenario {
    let hold = Hold::Drawn(SpanRange::new(Span::secs(11), Span::secs(19)));
    Scenario { hold, ..Scenario::default() }
}

fn hanging() -> Scenario {
    Scenario {
        hang: Some(Span::secs(600)),
        held_bound: Some(Span::secs(80)),
        ..Scenario::default()
    }
}

fn to_the_end() -> Scenario {
    Scenario { hold: Hold::UntilValidity, ..Scenario::default() }
}

fn to_the_end_within_the_margin() -> Scenario {
    Scenario { faults: FaultSizes { drift_ppm: 10_000, ..to_the_end().faults }, ..to_the_end() }
}

fn delayed_restart() -> Scenario {
    let restart_delay = SpanRange::new(Span::millis(10_500), Span::secs(15));
    let faults = FaultSizes { restart_delay, ..FaultSizes::default() };
    Scenario { faults, ..Scenario::default() }
}

fn synced(persistence: Persistence) -> Scenario {
    let servers = Servers { persistence, ..Servers::default() };
    Scenario { servers, ..Scenario::default() }
}

fn synced_every_second() -> Scenario {
    synced(Persistence::AofEverysec)
}

fn synced_always() -> Scenario {
    synced(Persistence::AofAlways)
}

fn unchecked() -> Scenario {
    Scenario { storage: StorageRule::Unchecked, ..Scenario::default() }
}

fn check_then_write() -> Scenario {
    Scenario { storage: StorageRule::CheckThenWrite, ..at_the_end() }
}

fn at_the_end() -> Scenario {
    let hold = Hold::Drawn(SpanRange::new(Span::secs(10), Span::millis(10_050)));
    Scenario { processes: 6, hold, ..Scenario::default() }
}

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

fn long_overrun() -> Scenario {
    let hold = Hold::Drawn(SpanRange::new(Span::secs(20), Span::secs(20)));
    Scenario { hold, ..Scenario::default() }
}

fn slow_crowd() -> Scenario {
    Scenario { processes: 8, ..with_latency(1, 30) }
}

fn held_for_less() -> Scenario {
    Scenario { keeps: [Length::Hold].into(), ..Scenario::default() }
}

fn with_latency(min_ms: u64, max_ms: u64) -> Scenario {
    let latency = SpanRange::new(Span::millis(min_ms), Span::millis(max_ms));
    Scenario { timing: Timing { latency, ..Timing::default() }, ..Scenario::default() }
}

fn slow_messages() -> Scenario {
    with_latency(5, 60)
}

fn short_lease() -> Scenario {
    let ms = Span::millis;
    Scenario {
        ttl: ms(100),
        hold: Hold::Drawn(SpanRange::new(ms(10), ms(90))),
        fault_window: SpanRange::new(ms(10), Span::secs(2)),
        cycles: 40,
        calls: ClientCalls { node_timeout: ms(100), ..ClientCalls::default() },
        faults: FaultSizes {
            extra_latency: Some(SpanRange::new(ms(20), ms(90))),
            ..FaultSizes::default()
        },
        ..Scenario::default()
    }
}

fn in_step() -> Scenario {
    let ms = Span::millis;
    Scenario {
        processes: 4,
        cycles: 3,
        hold: Hold::Drawn(SpanRange::new(ms(10), ms(10))),
        think: SpanRange::new(ms(0), ms(0)),
        calls: ClientCalls { retry: SpanRange::new(ms(50), ms(50)), ..ClientCalls::default() },
        timing: Timing { latency: SpanRange::new(ms(2), ms(2)), ..Timing::default() },
        servers: Servers { masters_order: MastersOrder::Rotated, ..Servers::default() },
        ..Scenario::default()
    }
}

fn out_of_step() -> Scenario {
    let retry = SpanRange::new(Span::millis(0), Span::millis(100));
    Scenario { calls: ClientCalls { retry, ..in_step().calls }, ..in_step() }
}

fn crowd() -> Scenario {
    let ms = Span::millis;
    Scenario {
        processes: 10,
        cycles: 5,
        hold: Hold::Drawn(SpanRange::new(ms(5), ms(10))),
        think: SpanRange::new(ms(1), ms(1)),
        calls: ClientCalls { retry: SpanRange::new(ms(0), ms(100)), ..ClientCalls::default() },
        ..Scenario::default()
    }
}

pub(crate) const IN_STEP: Slow = Slow {
    id: "C7",
    flawed: within("redlock", in_step),
    twin: within("redlock", out_of_step),
    fault: "none",
};

/// Uses uniform faults, because ten seeds with aimed faults are too few to tell a lock from its
/// twin.
pub(super) fn anywhere() -> Scenario {
    Scenario { strategy: Strategy::Uniform, ..Scenario::default() }
}

fn held_for_less_anywhere() -> Scenario {
    Scenario { strategy: Strategy::Uniform, ..held_for_less() }
}

pub(crate) const SLOW: &[Slow] = &[
    IN_STEP,
    slow("C7", crowd, ["redlock-no-random-delay", "redlock-parallel"], "none"),
    slow("C7", crowd, ["node-redlock", "redlock-parallel"], "none"),
    slow("C8", anywhere, ["redlock-unlock-answered", "redlock"], "lost-reply"),
    slow("C8", anywhere, ["redlock-py", "redlock"], "lost-reply"),
    slow("B2", held_for_less_anywhere, ["redisson", "single-node"], "restart"),
    slow("B3", anywhere, ["redisson-fair", "redisson"], "client-crash"),
    coordinators::LATE_EXPIRY,
    coordinators::LOCK_DELAY,
];

pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    ON_REDIS.iter().chain(coordinators::ROWS).chain(GUARDED)
}

const ON_REDIS: &[Row] = &[
    row("A1", case("setnx"), "client-crash", STUCK, Some(case("set-ex-del")), 10),
    row("A2", case("setnx-expire"), "pause", STUCK, Some(case("set-ex-del")), 40),
    both("A3", slow_crowd, ["setnx-stale-del", "setnx-stale-compare"], "client-crash", OVERLAP, 40),
    row("A4", case("setnx-getset"), "clock-jump", OVERLAP, None, 20),
    both("A5", overrun, ["setnx-getset-expiry", "setnx-getset-expiry-owner"], "none", FOREIGN, 5),
    both("A6", overrun, ["jedis-getset", "jedis-getset-owner"], "none", FOREIGN, 5),
    row("A7", case("set-ex-del"), "pause", FOREIGN, Some(case("single-node")), 20),
    both("A8", slow_messages, ["set-px-get-del", "single-node"], "pause", FOREIGN, 400),
    both("A8", overrun, ["thread-id-get-del", "set-px-get-del"], "none", FOREIGN, 5),
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
    both("A9", overrun, ["single-node", "watchdog"], "none", OVERLAP, 5),
    row("A10", case("watchdog"), "pause", OVERLAP, None, 10),
    both("A10", overrun, ["watchdog-expire", "watchdog"], "none", OVERLAP, 5),
    both("A10", hanging, ["watchdog", "watchdog-capped"], "none", HELD, 5),
    row("A10", case("watchdog-unstopped"), "client-crash", STUCK, Some(case("watchdog")), 10),
    row("A11", within("lua-extend-unchecked", overrun), "pause", OVERLAP, None, 10),
    row("A12", case("reentrant-by-value"), "none", OVERLAP, Some(case("reentrant-counted")), 5),
    row("A13", case("checked"), "storage-delay", HARM, Some(case("fencing")), 10),
    both("B1", long_overrun, ["redisson-lease", "redisson"], "none", OVERLAP, 5),
    row("B1", case("redisson"), "failover", OVERLAP, None, 10),
    row("B1", case("redisson"), "pause", OVERLAP, None, 10),
    row("B1", case("redisson"), "partition", WRONG_ANSWER, Some(case("single-node")), 40),
    row("B3", case("redisson-fair"), "client-crash", STUCK, Some(case("redisson")), 10),
    row("B4", case("redisson-redlock"), "pause", OVERLAP, None, 10),
    both("B5", long_overrun, ["spring-registry", "watchdog"], "none", OVERLAP, 5),
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
    both("C5", short_lease, ["redlock-no-validity-check", "redlock"], "latency", OVERLAP, 40),
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
];

const GUARDED: &[Row] = &[
    row("F1", case("single-node"), "pause", LOST_UPDATE, Some(case("fencing")), 10),
    both("F2", seckill, ["single-node", "fencing"], "pause", OVERSOLD, 40),
    both("F3", sequence, ["single-node", "fencing"], "pause", DUPLICATE, 10),
];
