//! The keys of a scenario, each with its meaning, its built-in value and its valid values.

use super::binaries::RealServers;
use super::calls::Calls;
use super::declare::{InvalidScenario, scenario};
use super::disks::{SyncErrorName, UnsyncedWrites};
use super::hold::Hold;
use super::length::Length;
use super::lock_script::LockScript;
use super::mutant::Mutant;
use super::nesting::Nesting;
use super::program::Program;
use super::section::Section;
use super::servers::{MastersOrder, Persistence, RedisVersion};
use super::slow_link::SlowLink;
use super::standby::{OldPrimary, Standby};
use super::strategy::Strategy;
use super::switches::Switches;
use crate::setup::span::{Span, SpanRange};
use fencepost_faults::Micros;
use fencepost_faults::setting::{CutOff, FailoverBy};
use fencepost_reports::{StorageRule, Workload};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const PATIENCE: SpanRange = SpanRange::new(Span(Micros(200)), Span::secs(10));

const SYNC_FAILS_MAX: Span = Span::secs(600);

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_one(number: &u16) -> bool {
    *number == 1
}

fn is_three(number: &u16) -> bool {
    *number == 3
}

fn is_patient(patience: &SpanRange) -> bool {
    *patience == PATIENCE
}

fn is_zero(span: &Span) -> bool {
    *span == Span::default()
}

scenario! {
/// Settings of a run. A scenario file contains some of them in TOML (`--scenario`). A report omits
/// some keys with built-in values.
keys {
    /// Number of processes that take the lock.
    processes: u16 = 3, |count| (1..=64).contains(count) => "1 to 64";
    /// Number of threads of each process. Each thread takes the lock independently. Locks that
    /// distinguish threads allow up to 16, and all other locks only 1.
    #[serde(skip_serializing_if = "is_one")]
    threads: u16 = 1, |count| (1..=16).contains(count) => "1 to 16";
    /// Number of cycles of each thread. A cycle is an acquire, a critical section and a release.
    cycles: u32 = 20, |count| *count > 0 => "at least 1";
    /// Lifetime of a lock at the server.
    ttl: Span = Span::secs(10),
        |ttl| *ttl >= Span::millis(1) => "at least 1ms, because servers count expiries in \
                                          milliseconds";
    /// Length of a critical section: a range from which each length is drawn log-uniformly, or
    /// `until-validity` for the validity that the lock reports, or the ttl if it reports none.
    hold: Hold = Hold::Drawn(SpanRange::new(Span::millis(10), Span::secs(8)));
    /// Kind of critical section, which decides how a pause of the process delays its end.
    #[serde(skip_serializing_if = "is_default")]
    section: Section = Section::Wait;
    /// Critical sections that take a re-entrant lock a second time; all critical sections if a
    /// report omits the key.
    #[serde(default = "Nesting::unsaid", skip_serializing_if = "Nesting::is_unsaid")]
    nesting: Nesting = Nesting::Drawn;
    /// Longest time for which a live process may keep the lock; unlimited by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_bound: Option<Span> = None, |bound| *bound != Some(Span::default()) => "more than zero";
    /// Time within which a process that requests a free lock must acquire the lock while enough
    /// servers run. The default is the progress bound plus the longest delay that a fault adds to a
    /// message and, except for programs, the longest pause between two cycles. The default applies
    /// only while no fault is active.
    #[serde(skip_serializing_if = "Option::is_none")]
    availability: Option<Span> = None;
    /// Time for which client-1 hangs in its first critical section, without reading a clock; none
    /// by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    hang: Option<Span> = None;
    /// Pause of a process between two cycles.
    think: SpanRange = SpanRange::new(Span::millis(1), Span::millis(20));
    /// Delay between the starts of two consecutive processes; 0 by default.
    #[serde(skip_serializing_if = "is_zero")]
    stagger: Span = Span::default();
}
/// Timeouts and retries of a process's calls.
group calls: ClientCalls {
    /// Delay between two attempts to acquire.
    retry: SpanRange = SpanRange::new(Span::millis(50), Span::millis(200));
    /// Time after which a process gives up on an acquire.
    acquire_timeout: Span = Span::secs(30), |span| !is_zero(span) => "more than zero";
    /// Lock calls that the application cancels. The application drops the call, and no more library
    /// code runs for the call, as with `tokio::time::timeout` and `select!`.
    #[serde(skip_serializing_if = "is_default")]
    cancel: Calls = Calls::None;
    /// Lock calls that the application interrupts. The next wait of the call fails, and the library
    /// cleans up as after an error, as with `Thread.interrupt`, asyncio's `Task.cancel` and a
    /// cancelled Go context.
    #[serde(skip_serializing_if = "is_default")]
    interrupt: Calls = Calls::None;
    /// Range from which the application's patience with a cancelled or interrupted call is drawn
    /// log-uniformly. The application abandons about half of these calls and waits for the others.
    #[serde(skip_serializing_if = "is_patient")]
    patience: SpanRange = PATIENCE;
    /// Timeout for a server's reply and for a connection to the server.
    command_timeout: Span = Span::millis(500), |span| !is_zero(span) => "more than zero";
    /// Timeout for a reply of one of several independent masters and for a connection to it.
    node_timeout: Span = Span::millis(50), |span| !is_zero(span) => "more than zero";
    /// Timeout for a storage request.
    storage_timeout: Span = Span::secs(1), |span| !is_zero(span) => "more than zero";
}
keys {
    /// Operations on the guarded value in each critical section.
    workload: Workload = Workload::Register;
    /// Rule by which the storage checks fencing tokens.
    storage: StorageRule = StorageRule::Fenced;
}
/// Durations of messages, commands and the run.
group timing: Timing {
    /// Range from which a message's latency is drawn.
    latency: SpanRange = SpanRange::new(Span(Micros(200)), Span::millis(2));
    /// Name of one slow link. The link's latency is the maximum of `latency`, and all other links
    /// have the minimum. By default, every latency is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    slow_link: Option<SlowLink> = None;
    /// Service time of one command. A server executes one command at a time.
    service_time: Span = Span(Micros(20));
    /// Time that a disk needs for a sync.
    sync_time: Span = Span::millis(1);
    /// Period of the run in which every sync of a server's disk fails; none by default. A server
    /// that stops because of a failed sync restarts at the end of the period.
    #[serde(skip_serializing_if = "Option::is_none")]
    sync_fails: Option<SpanRange> = None,
        |window| window.is_none_or(|it| it.min < it.max && it.max <= SYNC_FAILS_MAX)
            => "a range like 5s..10s, with a maximum of at most 10m";
    /// Smallest step of virtual time.
    quantum: Span = Span(Micros(100)),
        |step| (Span(Micros(10))..=Span::millis(10)).contains(step) => "10us to 10ms";
    /// Limit on a run's virtual time.
    max_time: Span = Span::secs(1_800), |time| !is_zero(time) => "more than zero";
}
/// Servers, and the clients' use of replicas and Sentinels.
group servers: Servers {
    /// Version that the simulated Redis imitates.
    #[serde(skip_serializing_if = "is_default")]
    redis_version: RedisVersion = RedisVersion::V7_0;
    /// Server data that survives a restart.
    persistence: Persistence = Persistence::None;
    /// Error that failing syncs return.
    #[serde(skip_serializing_if = "is_default")]
    sync_error: SyncErrorName = SyncErrorName::Eio;
    /// Fate of unsynced data when a server loses power.
    #[serde(skip_serializing_if = "is_default")]
    unsynced_writes: UnsyncedWrites = UnsyncedWrites::Lost;
    /// Number of independent masters for a quorum lock.
    masters: u16 = 5, |count| (1..=31).contains(count) => "1 to 31";
    /// Order in which a process asks the independent masters.
    masters_order: MastersOrder = MastersOrder::Same;
    /// Number of servers of ZooKeeper, etcd or GemFire.
    #[serde(skip_serializing_if = "is_three")]
    ensemble: u16 = 3, |count| (1..=31).contains(count) => "1 to 31";
    /// Lock-delay that Chubby locks request if they use one; one minute by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    lock_delay: Option<Span> = None,
        |delay| delay.is_none_or(|delay| delay <= Span::secs(60)) => "up to 60s, Chubby's maximum";
    /// Time at which PostgreSQL's standby receives a commit. By default, runs with failovers or
    /// replication lag have an asynchronous standby.
    #[serde(skip_serializing_if = "Option::is_none")]
    standby: Option<Standby> = None;
    /// Fate of the old primary when an operator promotes the standby.
    #[serde(skip_serializing_if = "is_default")]
    old_primary: OldPrimary = OldPrimary::Drawn;
    /// Number of replicas of a Redis primary in runs with replicas.
    replicas: u16 = 2, |count| *count <= 31 => "0 to 31";
    /// Number of Sentinels that watch the primary and decide on failovers.
    sentinels: u16 = 3, |count| (1..=31).contains(count) => "1 to 31";
    /// Time without a reply after which a Sentinel considers a server down.
    down_after: Span = Span::secs(1), |span| !is_zero(span) => "more than zero";
    /// Value of Sentinel's `failover-timeout`.
    failover_timeout: Span = Span::secs(10), |span| !is_zero(span) => "more than zero";
    /// Value of Redis's `min-replicas-to-write`. If it is not 0, the server has replicas under
    /// every fault family.
    min_replicas: u16 = 0;
    /// Number of replicas that must acknowledge a grant (WAIT) before a client relies on the grant;
    /// 0 for no WAIT. If it is not 0, the server has replicas under every fault family.
    wait_replicas: u16 = 0;
    /// Timeout of the WAIT command that `wait-replicas` adds.
    wait_timeout: Span = Span::millis(200);
    /// Reaction of a Sentinel client to a new primary.
    #[serde(skip_serializing_if = "is_default")]
    switches: Switches = Switches::Heard;
}
keys {
    /// Period of the run in which faults may begin. Faults may end later.
    fault_window: SpanRange = SpanRange::new(Span::secs(2), Span::secs(60));
    /// Strategy that decides when faults begin; `uniform` if a report omits the key.
    #[serde(default = "Strategy::unsaid", skip_serializing_if = "Strategy::is_unsaid")]
    strategy: Strategy = Strategy::Aimed;
}
/// Magnitudes of faults.
group faults: FaultSizes {
    /// Duration of a `pause` or `suspend` fault; by default 100 ms to 2.5 leases.
    pause: Option<SpanRange> = None;
    /// Time by which replicas lag behind their primary; by default 50 ms to 5 s.
    replication_lag: Option<SpanRange> = None;
    /// Number of replicas that lag at the same time; by default all replicas.
    #[serde(skip_serializing_if = "Option::is_none")]
    lagging_replicas: Option<u16> = None, |count| *count != Some(0) => "at least 1";
    /// Kind of failure of a replicated primary in `failover`; by default drawn for each failover.
    #[serde(skip_serializing_if = "is_default")]
    failover_by: FailoverBy = FailoverBy::Drawn;
    /// Maximum number of servers hit by one strike of `restart`, `clock-jump`, `eviction`,
    /// `operator` or `partition`; no limit by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    struck_servers: Option<u16> = None, |count| *count != Some(0) => "at least 1";
    /// Nodes from which `partition` separates processes: `servers`, or the guarded `storage`.
    #[serde(skip_serializing_if = "is_default")]
    cut_off: CutOff = CutOff::Servers;
    /// Largest relative drift between the clocks of any two hosts, in parts per million.
    drift_ppm: u32 = 30_000;
    /// Size of a clock step in either direction; by default a fifth of a lease to 2 leases.
    clock_jump: Option<SpanRange> = None;
    /// Downtime of a restarted server; 0 by default.
    restart_delay: SpanRange = SpanRange::new(Span::default(), Span::default());
    /// Delay that `storage-delay` adds to a storage request; by default 50 ms to 2 leases.
    storage_delay: Option<SpanRange> = None;
    /// Delay that `latency` adds to a message; by default 1 ms to a tenth of a lease.
    extra_latency: Option<SpanRange> = None;
    /// Duration of a partition; by default 100 ms to 1.5 leases.
    partition: Option<SpanRange> = None;
}
keys {
    /// Lengths that the user explicitly set to built-in values. Seeds do not draw these lengths.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    keeps: BTreeSet<Length> = BTreeSet::new();
    /// User-supplied programs that can be the lock under test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    programs: Vec<Program> = Vec::new();
    /// Real servers that replace simulated ones, by coordinator.
    #[serde(skip_serializing_if = "RealServers::is_empty")]
    binaries: RealServers = RealServers::new();
    /// Lua locks that can be the lock under test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scripts: Vec<LockScript> = Vec::new();
    /// Mistake that mutation testing plants.
    #[serde(skip)]
    mutant: Option<Mutant> = None;
    /// `true` if replay commands need `--no-config`, because a project file would add options.
    #[serde(skip)]
    replays_without_project: bool = false;
}
}
