//! The keys of a scenario: for each its meaning, its built-in value and what makes sense.

use super::binaries::RealServers;
use super::calls::Calls;
use super::declare::{InvalidScenario, scenario};
use super::hold::Hold;
use super::length::Length;
use super::lock_script::LockScript;
use super::mutant::Mutant;
use super::nesting::Nesting;
use super::program::Program;
use super::section::Section;
use super::servers::{MastersOrder, Persistence};
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

/// How long an application waits that cancels or interrupts calls: from less than one message takes
/// to longer than most acquires last.
const PATIENCE: SpanRange = SpanRange::new(Span(Micros(200)), Span::secs(10));

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
/// What a run is made of. TOML for people (`--scenario`), echoed whole in every report.
keys {
    /// How many processes take the lock.
    processes: u16 = 3, |count| (1..=64).contains(count) => "1 to 64";
    /// How many threads each of them has, every one with the lock in hands of its own: 1, or up to
    /// 16 for a lock that knows threads of one process.
    #[serde(skip_serializing_if = "is_one")]
    threads: u16 = 1, |count| (1..=16).contains(count) => "1 to 16";
    /// How many times each thread acquires, holds and releases.
    cycles: u32 = 20, |count| *count > 0 => "at least 1";
    /// How long a lock lives at the server.
    ttl: Span = Span::secs(10),
        |ttl| *ttl >= Span::millis(1) => "at least 1ms, the unit of a server's expiry";
    /// How long a process stays in its critical section: drawn log-uniformly, or for as long as the
    /// lock says that it is valid.
    hold: Hold = Hold::Drawn(SpanRange::new(Span::millis(10), Span::secs(8)));
    /// What it does meanwhile: whether a pause makes it later.
    #[serde(skip_serializing_if = "Section::is_wait")]
    section: Section = Section::Wait;
    /// Which sections take a re-entrant lock a second time. A report that does not say means all;
    /// for a scenario file see [`Scenario::of_table`].
    #[serde(default = "Nesting::unsaid", skip_serializing_if = "Nesting::is_unsaid")]
    nesting: Nesting = Nesting::Drawn;
    /// No live process may keep the lock longer than this; by default it may keep it for as long as
    /// it likes.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_bound: Option<Span> = None, |bound| *bound != Some(Span::default()) => "more than zero";
    /// While enough servers run, a free lock that somebody wants is had within this span; by
    /// default it may take any time.
    #[serde(skip_serializing_if = "Option::is_none")]
    availability: Option<Span> = None;
    /// How long client-1 hangs in its first section, in business code that looks at no clock; by
    /// default not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    hang: Option<Span> = None;
    /// How long a process waits between two cycles.
    think: SpanRange = SpanRange::new(Span::millis(1), Span::millis(20));
    /// How much later than the one before it each process begins; by default not at all.
    #[serde(skip_serializing_if = "is_zero")]
    stagger: Span = Span::default();
}
/// How long a process goes on calling its lock and the storage.
group calls: ClientCalls {
    /// Delay between two attempts to acquire.
    retry: SpanRange = SpanRange::new(Span::millis(50), Span::millis(200));
    /// How long an acquire goes on trying.
    acquire_timeout: Span = Span::secs(30), |span| !is_zero(span) => "more than zero";
    /// Which calls of its lock the application cancels: it drops the call where it stands, and no
    /// code of the library runs for it any more. So do `tokio::time::timeout` and `select!`.
    #[serde(skip_serializing_if = "Calls::are_none")]
    cancel: Calls = Calls::None;
    /// Which calls of its lock the application interrupts: what the call waits for next fails, and
    /// the library cleans up as it does after an error. So do `Thread.interrupt`, `Task.cancel` of
    /// asyncio, and a context of Go that is done.
    #[serde(skip_serializing_if = "Calls::are_none")]
    interrupt: Calls = Calls::None;
    /// How long it waits for one of these calls before that: drawn log-uniformly for about every
    /// second of them; it waits for the others to the end.
    #[serde(skip_serializing_if = "is_patient")]
    patience: SpanRange = PATIENCE;
    /// How long a client waits for a server's reply, and for a connection to it.
    command_timeout: Span = Span::millis(500), |span| !is_zero(span) => "more than zero";
    /// The same for one of several independent masters.
    node_timeout: Span = Span::millis(50), |span| !is_zero(span) => "more than zero";
    /// How long a process waits for the storage.
    storage_timeout: Span = Span::secs(1), |span| !is_zero(span) => "more than zero";
}
keys {
    /// What is guarded.
    workload: Workload = Workload::Register;
    /// How the storage treats fencing tokens.
    storage: StorageRule = StorageRule::Fenced;
}
/// How long messages, commands and the run take.
group timing: Timing {
    /// How long a message takes.
    latency: SpanRange = SpanRange::new(Span(Micros(200)), Span::millis(2));
    /// The one link on which every message takes the most of `latency`; on all others it takes the
    /// least then. By default every latency is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    slow_link: Option<SlowLink> = None;
    /// How long a server takes for one command.
    service_time: Span = Span(Micros(20));
    /// How long a disk takes to sync.
    sync_time: Span = Span::millis(1);
    /// The smallest step of time.
    quantum: Span = Span(Micros(100)),
        |step| (Span(Micros(10))..=Span::millis(10)).contains(step) => "10us to 10ms";
    /// A run that lasts longer is stopped.
    max_time: Span = Span::secs(1_800);
}
/// The servers, and what clients ask of replicas and Sentinels.
group servers: Servers {
    /// What a restarted server finds.
    persistence: Persistence = Persistence::None;
    /// How many independent masters a quorum lock uses.
    masters: u16 = 5, |count| (1..=31).contains(count) => "1 to 31";
    /// In which order a process knows them.
    masters_order: MastersOrder = MastersOrder::Same;
    /// How many servers an ensemble of ZooKeeper has.
    #[serde(skip_serializing_if = "is_three")]
    ensemble: u16 = 3, |count| (1..=31).contains(count) => "1 to 31";
    /// How long a lock of Chubby is kept from all whose holder has failed: what a lock asks for by
    /// itself is a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    lock_delay: Option<Span> = None,
        |delay| delay.is_none_or(|delay| delay <= Span::secs(60)) => "up to 60s, Chubby's bound";
    /// When the standby of a PostgreSQL has a commit; by default there is one where failovers or a
    /// lag are part of the run, and it is asynchronous.
    #[serde(skip_serializing_if = "Option::is_none")]
    standby: Option<Standby> = None;
    /// What the operator who promotes the standby does about the old primary.
    #[serde(skip_serializing_if = "OldPrimary::is_drawn")]
    old_primary: OldPrimary = OldPrimary::Drawn;
    /// How many replicas the primary has where failovers are part of the run.
    replicas: u16 = 2, |count| *count <= 31 => "0 to 31";
    /// How many Sentinels watch it.
    sentinels: u16 = 3, |count| (1..=31).contains(count) => "1 to 31";
    /// Silence after which a Sentinel holds a server to be down.
    down_after: Span = Span::secs(1), |span| !is_zero(span) => "more than zero";
    /// Sentinel's failover-timeout.
    failover_timeout: Span = Span::secs(10), |span| !is_zero(span) => "more than zero";
    /// Redis's min-replicas-to-write.
    min_replicas: u16 = 0;
    /// How many replicas a client waits for (WAIT) before it holds a lock for granted; 0: it does
    /// not ask.
    wait_replicas: u16 = 0;
    /// How long the server lets it wait for them.
    wait_timeout: Span = Span::millis(200);
    /// Whether a client of Sentinel hears that another primary has taken over.
    #[serde(skip_serializing_if = "Switches::are_heard")]
    switches: Switches = Switches::Heard;
}
keys {
    /// How far into the run faults may begin.
    fault_window: SpanRange = SpanRange::new(Span::secs(2), Span::secs(60));
    /// Where in the run they do. A report that does not say means uniform; for a scenario file see
    /// [`Scenario::of_table`].
    #[serde(default = "Strategy::unsaid", skip_serializing_if = "Strategy::is_unsaid")]
    strategy: Strategy = Strategy::Aimed;
}
/// How large faults are.
group faults: FaultSizes {
    /// How long processes are paused or suspended; by default up to 2.5 leases.
    pause: Option<SpanRange> = None;
    /// How far replicas lag behind.
    replication_lag: Option<SpanRange> = None;
    /// How many replicas lag at a time; by default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    lagging_replicas: Option<u16> = None, |count| *count != Some(0) => "at least 1";
    /// By what `failover` takes a primary away that another server follows; by default any way.
    #[serde(skip_serializing_if = "FailoverBy::is_drawn")]
    failover_by: FailoverBy = FailoverBy::Drawn;
    /// How many servers one strike of `restart`, `clock-jump`, `eviction` or `partition` hits at
    /// most; by default any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    struck_servers: Option<u16> = None, |count| *count != Some(0) => "at least 1";
    /// What `partition` cuts processes off from: `servers`, or the guarded `storage`.
    #[serde(skip_serializing_if = "CutOff::is_servers")]
    cut_off: CutOff = CutOff::Servers;
    /// The largest relative drift between the clocks of any two hosts, in parts per million.
    drift_ppm: u32 = 30_000;
    /// How far clocks jump.
    clock_jump: Option<SpanRange> = None;
    /// How long a restarted server stays away.
    restart_delay: SpanRange = SpanRange::new(Span::default(), Span::default());
    /// What `storage-delay` adds to a request.
    storage_delay: Option<SpanRange> = None;
    /// What `latency` adds to a message.
    extra_latency: Option<SpanRange> = None;
    /// How long a partition lasts.
    partition: Option<SpanRange> = None;
}
keys {
    /// Which lengths were asked for though they are the built-in ones: `all` draws those that were
    /// not.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    keeps: BTreeSet<Length> = BTreeSet::new();
    /// The user's own programs that may be the lock under test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    programs: Vec<Program> = Vec::new();
    /// The real servers that take the place of simulated ones, by coordinator.
    #[serde(skip_serializing_if = "RealServers::is_empty")]
    binaries: RealServers = RealServers::new();
    /// The locks written in Lua that may be the lock under test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scripts: Vec<LockScript> = Vec::new();
    /// The mistake that is planted, where the tests themselves are tested.
    #[serde(skip)]
    mutant: Option<Mutant> = None;
    /// Whether the commands that show a run again have to refuse a project's file, which would add
    /// options to theirs.
    #[serde(skip)]
    replays_without_project: bool = false;
}
}
