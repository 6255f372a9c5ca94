//! Everything that a run follows from besides its seed, its lock and its faults: the deployment,
//! the workload, the habits of clients and servers.

mod calls;
pub(crate) mod hashed;
mod hold;
pub(crate) mod length;
mod mutant;
pub(crate) mod program;
mod section;
mod slow_link;
mod standby;
mod strategy;
mod switches;

pub use calls::Calls;
pub use hold::Hold;
pub use mutant::{Factory, Mutant, Wrap};
pub use section::Section;
pub use slow_link::{InvalidSlowLink, SlowLink};
pub use standby::{OldPrimary, Standby};
pub use strategy::Strategy;
pub use switches::Switches;

use crate::setup::span::{Span, SpanRange};
use clap::ValueEnum;
use fencepost_clients::{Definition, ReplicaWait, Settings};
use fencepost_faults::setting::{FailoverBy, Knobs, Setting, Spans, Topology, Window};
use fencepost_faults::{Micros, SimTime};
use fencepost_reports::{StorageRule, Workload};
use length::Length;
use program::Program;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::num::NonZeroU16;

/// What a run is made of. TOML for people (`--scenario`), echoed whole in every report.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Scenario {
    /// How many processes take the lock.
    pub processes: u16,
    /// How many threads each of them has, every one with the lock in hands of its own: 1, or up to
    /// 16 for a lock that knows threads of one process.
    #[serde(skip_serializing_if = "is_one")]
    pub threads: u16,
    /// How many times each thread acquires, holds and releases.
    pub cycles: u32,
    /// How long a lock lives at the server.
    pub ttl: Span,
    /// How long a process stays in its critical section: drawn log-uniformly, or for as long as the
    /// lock says that it is valid.
    pub hold: Hold,
    /// What it does meanwhile: whether a pause makes it later.
    #[serde(skip_serializing_if = "Section::is_wait")]
    pub section: Section,
    /// No live process may keep the lock longer than this; by default it may keep it for as long as
    /// it likes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_bound: Option<Span>,
    /// While enough servers run, a free lock that somebody wants is had within this span; by
    /// default it may take any time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub availability: Option<Span>,
    /// How long client-1 hangs in its first section, in business code that looks at no clock; by
    /// default not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hang: Option<Span>,
    /// How long a process waits between two cycles.
    pub think: SpanRange,
    /// How much later than the one before it each process begins; by default not at all.
    #[serde(skip_serializing_if = "is_zero")]
    pub stagger: Span,
    /// Delay between two attempts to acquire.
    pub retry: SpanRange,
    /// How long an acquire goes on trying.
    pub acquire_timeout: Span,
    /// Which calls of its lock the application cancels: it drops the call where it stands, and no
    /// code of the library runs for it any more. So do `tokio::time::timeout` and `select!`.
    #[serde(skip_serializing_if = "Calls::are_none")]
    pub cancel: Calls,
    /// Which calls of its lock the application interrupts: what the call waits for next fails, and
    /// the library cleans up as it does after an error. So do `Thread.interrupt`, `Task.cancel` of
    /// asyncio, and a context of Go that is done.
    #[serde(skip_serializing_if = "Calls::are_none")]
    pub interrupt: Calls,
    /// How long it waits for one of these calls before that: drawn log-uniformly for about every
    /// second of them; it waits for the others to the end.
    #[serde(skip_serializing_if = "is_patient")]
    pub patience: SpanRange,
    /// How long a client waits for a server's reply, and for a connection to it.
    pub command_timeout: Span,
    /// The same for one of several independent masters.
    pub node_timeout: Span,
    /// How long a process waits for the storage.
    pub storage_timeout: Span,
    /// What is guarded.
    pub workload: Workload,
    /// How the storage treats fencing tokens.
    pub storage: StorageRule,
    /// How long a message takes.
    pub latency: SpanRange,
    /// The one link on which every message takes the most of `latency`; on all others it takes the
    /// least then. By default every latency is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow_link: Option<SlowLink>,
    /// How long a server takes for one command.
    pub service_time: Span,
    /// How long a disk takes to sync.
    pub sync_time: Span,
    /// The smallest step of time.
    pub quantum: Span,
    /// A run that lasts longer is stopped.
    pub max_time: Span,
    /// What a restarted server finds.
    pub persistence: Persistence,
    /// How many independent masters a quorum lock uses.
    pub masters: u16,
    /// In which order a process knows them.
    pub masters_order: MastersOrder,
    /// How many servers an ensemble of ZooKeeper has.
    #[serde(skip_serializing_if = "is_three")]
    pub ensemble: u16,
    /// When the standby of a PostgreSQL has a commit; by default there is one where failovers or a
    /// lag are part of the run, and it is asynchronous.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standby: Option<Standby>,
    /// What the operator who promotes the standby does about the old primary.
    #[serde(skip_serializing_if = "OldPrimary::is_drawn")]
    pub old_primary: OldPrimary,
    /// How many replicas the primary has where failovers are part of the run.
    pub replicas: u16,
    /// How many Sentinels watch it.
    pub sentinels: u16,
    /// Silence after which a Sentinel holds a server to be down.
    pub down_after: Span,
    /// Sentinel's failover-timeout.
    pub failover_timeout: Span,
    /// Redis's min-replicas-to-write.
    pub min_replicas: u16,
    /// How many replicas a client waits for (WAIT) before it holds a lock for granted; 0: it does
    /// not ask.
    pub wait_replicas: u16,
    /// How long the server lets it wait for them.
    pub wait_timeout: Span,
    /// Whether a client of Sentinel hears that another primary has taken over.
    #[serde(skip_serializing_if = "Switches::are_heard")]
    pub switches: Switches,
    /// How far into the run faults may begin.
    pub fault_window: SpanRange,
    /// Where in the run they do. A report that does not say means uniform; for a scenario file see
    /// [`Scenario::of_table`].
    #[serde(default = "Strategy::unsaid", skip_serializing_if = "Strategy::is_unsaid")]
    pub strategy: Strategy,
    /// How long processes are paused or suspended; by default up to 2.5 leases.
    pub pause: Option<SpanRange>,
    /// How far replicas lag behind.
    pub replication_lag: Option<SpanRange>,
    /// How many replicas lag at a time; by default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lagging_replicas: Option<u16>,
    /// By what `failover` takes a primary away that another server follows; by default any way.
    #[serde(skip_serializing_if = "FailoverBy::is_drawn")]
    pub failover_by: FailoverBy,
    /// The largest relative drift between the clocks of any two hosts, in parts per million.
    pub drift_ppm: u32,
    /// How far clocks jump.
    pub clock_jump: Option<SpanRange>,
    /// How long a restarted server stays away.
    pub restart_delay: SpanRange,
    /// What `storage-delay` adds to a request.
    pub storage_delay: Option<SpanRange>,
    /// What `latency` adds to a message.
    pub extra_latency: Option<SpanRange>,
    /// How long a partition lasts.
    pub partition: Option<SpanRange>,
    /// Which lengths were asked for though they are the built-in ones: `all` draws those that were
    /// not.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub keeps: BTreeSet<Length>,
    /// The user's own programs that may be the lock under test.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
    /// The mistake that is planted, where the tests themselves are tested.
    #[serde(skip)]
    pub mutant: Option<Mutant>,
}

/// What a restarted server finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Persistence {
    /// Nothing.
    None,
    /// The latest snapshot.
    Rdb,
    /// Everything written; after a power loss, all but the latest second.
    AofEverysec,
    /// Everything that was acknowledged.
    AofAlways,
}

/// In which order a process knows the independent masters: a lock that asks one after the other
/// begins with the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum MastersOrder {
    /// All processes in the same.
    Same,
    /// Each process begins one master later than the one before it, as if it asked the nearest
    /// first.
    Rotated,
}

/// How long an application waits that cancels or interrupts calls: from less than one message takes
/// to longer than most acquires last.
const PATIENCE: SpanRange = SpanRange::new(Span(Micros(200)), Span::secs(10));

/// The most threads that a process may have.
const THREADS_MAX: u16 = 16;

/// Whether a number need not be written down.
fn is_one(number: &u16) -> bool {
    *number == 1
}

/// Whether an ensemble need not be written down.
fn is_three(number: &u16) -> bool {
    *number == 3
}

/// Whether the patience of an application need not be written down.
fn is_patient(patience: &SpanRange) -> bool {
    *patience == PATIENCE
}

/// Whether a span need not be written down.
fn is_zero(span: &Span) -> bool {
    *span == Span::default()
}

/// A number of a scenario that makes no sense.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{key} '{value}': expected {expected}")]
pub struct InvalidScenario {
    pub(crate) key: &'static str,
    value: String,
    expected: &'static str,
}

impl Default for Scenario {
    fn default() -> Scenario {
        let ms = Span::millis;
        Scenario {
            processes: 3,
            threads: 1,
            cycles: 20,
            ttl: Span::secs(10),
            hold: Hold::Drawn(SpanRange::new(ms(10), Span::secs(8))),
            section: Section::Wait,
            held_bound: None,
            availability: None,
            hang: None,
            think: SpanRange::new(ms(1), ms(20)),
            stagger: Span::default(),
            retry: SpanRange::new(ms(50), ms(200)),
            acquire_timeout: Span::secs(30),
            cancel: Calls::None,
            interrupt: Calls::None,
            patience: PATIENCE,
            command_timeout: ms(500),
            node_timeout: ms(50),
            storage_timeout: Span::secs(1),
            workload: Workload::Register,
            storage: StorageRule::Fenced,
            latency: SpanRange::new(Span(Micros(200)), ms(2)),
            slow_link: None,
            service_time: Span(Micros(20)),
            sync_time: ms(1),
            quantum: Span(Micros(100)),
            max_time: Span::secs(1_800),
            persistence: Persistence::None,
            masters: 5,
            masters_order: MastersOrder::Same,
            ensemble: 3,
            standby: None,
            old_primary: OldPrimary::Drawn,
            replicas: 2,
            sentinels: 3,
            down_after: Span::secs(1),
            failover_timeout: Span::secs(10),
            min_replicas: 0,
            wait_replicas: 0,
            wait_timeout: ms(200),
            switches: Switches::Heard,
            fault_window: SpanRange::new(Span::secs(2), Span::secs(60)),
            strategy: Strategy::Aimed,
            pause: None,
            replication_lag: None,
            lagging_replicas: None,
            failover_by: FailoverBy::Drawn,
            drift_ppm: 30_000,
            clock_jump: None,
            restart_delay: SpanRange::new(Span::default(), Span::default()),
            storage_delay: None,
            extra_latency: None,
            partition: None,
            keeps: BTreeSet::new(),
            programs: Vec::new(),
            mutant: None,
        }
    }
}

impl Scenario {
    /// The scenario of a file or of `--set`: what it does not name is as built in.
    pub fn of_table(mut table: toml::Table) -> Result<Scenario, toml::de::Error> {
        let built_in = || Strategy::default().name().into();
        table.entry("strategy").or_insert_with(built_in);
        table.try_into()
    }

    /// The program that a lock is, if it is one of the user's own.
    pub fn program(&self, client: &Definition) -> Option<&Program> {
        self.programs.iter().find(|program| program.name == client.name)
    }

    /// The key and value by which the application gives calls up, if it does.
    pub(crate) fn gives_up(&self) -> Option<(&'static str, &'static str)> {
        let keys = [("cancel", self.cancel), ("interrupt", self.interrupt)];
        let given = keys.into_iter().find(|(_, calls)| *calls != Calls::None);
        given.map(|(key, calls)| (key, calls.name()))
    }

    /// How soon a free lock can be demanded to be had: whoever was refused comes back after a
    /// retry, and may lose one reply besides.
    pub fn soonest(&self) -> Span {
        Span(self.command_timeout.0 + self.retry.max.0)
    }

    /// What a fault plan may hit, and how hard.
    pub fn setting(&self, topology: Topology) -> Setting {
        let mut knobs = Knobs::for_ttl(self.ttl.0);
        let set = |knob: &mut Spans, range: Option<SpanRange>| {
            if let Some(range) = range {
                *knob = Spans::new(range.min.0, range.max.0);
            }
        };
        set(&mut knobs.pause, self.pause);
        set(&mut knobs.replication_lag, self.replication_lag);
        knobs.lagging_replicas = self.lagging_replicas.and_then(NonZeroU16::new);
        knobs.failover_by = self.failover_by;
        set(&mut knobs.clock_jump, self.clock_jump);
        set(&mut knobs.restart_delay, Some(self.restart_delay));
        set(&mut knobs.storage_delay, self.storage_delay);
        set(&mut knobs.latency, self.extra_latency);
        set(&mut knobs.partition, self.partition);
        knobs.drift_ppm = self.drift_ppm;
        let window = Window {
            begin_us: SimTime(self.fault_window.min.0.0),
            end_us: SimTime(self.fault_window.max.0.0),
        };
        Setting { topology, processes: self.processes, ttl_us: self.ttl.0, window, knobs }
    }

    /// Checks that the numbers make sense together. Errors name the value and what would be valid.
    pub fn validate(&self) -> Result<(), InvalidScenario> {
        let wrong = |key: &'static str, value: String, expected: &'static str| {
            Err(InvalidScenario { key, value, expected })
        };
        let zero = Span::default();
        if !(1..=64).contains(&self.processes) {
            return wrong("processes", self.processes.to_string(), "1 to 64");
        }
        if !(1..=THREADS_MAX).contains(&self.threads) {
            return wrong("threads", self.threads.to_string(), "1 to 16");
        }
        if self.cycles == 0 {
            return wrong("cycles", self.cycles.to_string(), "at least 1");
        }
        if self.lagging_replicas == Some(0) {
            return wrong("lagging-replicas", "0".to_owned(), "at least 1");
        }
        if self.ttl < Span::millis(1) {
            return wrong(
                "ttl",
                self.ttl.to_string(),
                "at least 1ms, the unit of a server's expiry",
            );
        }
        if let Hold::Drawn(range) = self.hold
            && range.max > self.max_time
        {
            return wrong("hold", range.to_string(), "a range that ends before max-time");
        }
        if self.held_bound == Some(zero) {
            return wrong("held-bound", zero.to_string(), "more than zero");
        }
        if let Some(bound) = self.availability.filter(|bound| *bound < self.soonest()) {
            let least = "at least command-timeout and the longest retry together";
            return wrong("availability", bound.to_string(), least);
        }
        if self.quantum < Span(Micros(10)) || self.quantum > Span::millis(10) {
            return wrong("quantum", self.quantum.to_string(), "10us to 10ms");
        }
        if self.max_time == zero || self.fault_window.max > self.max_time {
            return wrong("max-time", self.max_time.to_string(), "longer than the fault window");
        }
        let spans = [
            ("acquire-timeout", self.acquire_timeout),
            ("command-timeout", self.command_timeout),
            ("node-timeout", self.node_timeout),
            ("storage-timeout", self.storage_timeout),
            ("down-after", self.down_after),
            ("failover-timeout", self.failover_timeout),
        ];
        if let Some((key, value)) = spans.into_iter().find(|(_, span)| *span == zero) {
            return wrong(key, value.to_string(), "more than zero");
        }
        let waits_too_long =
            self.wait_timeout < Span::millis(1) || self.wait_timeout >= self.command_timeout;
        if self.wait_replicas > 0 && waits_too_long {
            return wrong(
                "wait-timeout",
                self.wait_timeout.to_string(),
                "at least 1ms and less than command-timeout",
            );
        }
        let counts =
            [("masters", self.masters), ("sentinels", self.sentinels), ("ensemble", self.ensemble)];
        match counts.into_iter().find(|(_, count)| !(1..=31).contains(count)) {
            Some((key, count)) => wrong(key, count.to_string(), "1 to 31"),
            None if self.replicas > 31 => wrong("replicas", self.replicas.to_string(), "0 to 31"),
            None => Ok(()),
        }
    }

    /// The numbers that the lock of a process is built with.
    pub fn settings(&self) -> Settings {
        Settings {
            ttl: self.ttl.into(),
            retry: self.retry.durations(),
            acquire_timeout: self.acquire_timeout.into(),
            command_timeout: self.command_timeout.into(),
            node_timeout: self.node_timeout.into(),
            wait: (self.wait_replicas > 0).then(|| ReplicaWait {
                replicas: self.wait_replicas,
                timeout: self.wait_timeout.into(),
            }),
            hears_switches: self.switches == Switches::Heard,
        }
    }
}

impl Scenario {
    /// What differs from the built-in scenario or was asked for all the same, as keys and values of
    /// `--set`.
    pub fn deviations(&self) -> Vec<(String, String)> {
        let as_map = |scenario: &Scenario| {
            let mut map = match serde_json::to_value(scenario) {
                Ok(serde_json::Value::Object(map)) => map,
                _ => serde_json::Map::new(),
            };
            // A report leaves out one of its names.
            map.insert("strategy".to_owned(), scenario.strategy.name().into());
            map
        };
        let (own, built_in) = (as_map(self), as_map(&Scenario::default()));
        let text = |value: &serde_json::Value| {
            value.as_str().map_or_else(|| value.to_string(), str::to_owned)
        };
        let kept: Vec<&str> = self.keeps.iter().map(|length| length.key()).collect();
        own.iter()
            .filter(|(key, value)| {
                kept.contains(&key.as_str()) || built_in.get(*key) != Some(value)
            })
            .filter(|(key, _)| !matches!(key.as_str(), "keeps" | "programs"))
            .map(|(key, value)| (key.clone(), text(value)))
            .collect()
    }

    /// The same as flags of a command, with a space before each.
    pub fn flags(&self) -> String {
        let flag = |(key, value): &(String, String)| match key.as_str() {
            "strategy" => format!(" --strategy {value}"),
            _ => format!(" --set {key}={value}"),
        };
        self.deviations().iter().map(flag).collect()
    }
}
