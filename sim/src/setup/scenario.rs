//! The settings of a run.

pub(crate) mod binaries;
mod calls;
mod declare;
pub(crate) mod disks;
pub(crate) mod hashed;
mod hold;
mod keys;
pub(crate) mod length;
mod lock_script;
mod mutant;
mod nesting;
pub(crate) mod own_server;
pub(crate) mod program;
mod section;
mod servers;
mod slow_link;
mod standby;
mod strategy;
mod switches;
mod words;

pub use binaries::{InvalidServers, RealServers, ServerBinary, ServersArgument};
pub use calls::Calls;
pub use declare::InvalidScenario;
pub use disks::{SyncErrorName, UnsyncedWrites};
pub use hold::Hold;
pub use keys::{ClientCalls, FaultSizes, Scenario, Servers, Timing};
pub use lock_script::LockScript;
pub use mutant::{Factory, Mutant, Wrap};
pub use nesting::Nesting;
pub use own_server::OwnServer;
pub use section::Section;
pub use servers::{MastersOrder, Persistence, RedisVersion};
pub use slow_link::{InvalidSlowLink, SlowLink};
pub use standby::{OldPrimary, Standby};
pub use strategy::Strategy;
pub use switches::Switches;

use crate::setup::span::{Span, SpanRange};
use declare::as_text;
use fencepost_clients::{Definition, Env, Lock, ReplicaWait, Settings};
use fencepost_faults::setting::{Knobs, Setting, Spans, Topology, Window};
use fencepost_faults::{Node, Seed, SimTime, Stream};
use fencepost_reports::record::programs::shell_word;
use program::Program;
use rand_chacha::ChaCha8Rng;
use std::num::NonZeroU16;

impl Scenario {
    /// Converts the table of a scenario file. Unlike in a report, a missing `strategy` or `nesting`
    /// has its built-in value.
    pub fn of_table(mut table: toml::Table) -> Result<Scenario, toml::de::Error> {
        table.entry("strategy").or_insert_with(|| Strategy::default().name().into());
        table.entry("nesting").or_insert_with(|| Nesting::default().name().into());
        table.try_into()
    }

    pub(crate) fn torn_writes(&self, seed: Seed, node: Node) -> Option<ChaCha8Rng> {
        let is_torn = self.servers.unsynced_writes == UnsyncedWrites::Torn;
        is_torn.then(|| seed.stream(Stream::Torn(node)))
    }

    pub fn program(&self, client: &Definition) -> Option<&Program> {
        self.programs.iter().find(|program| program.name == client.name)
    }

    pub(crate) fn is_traced(&self, client: &Definition) -> bool {
        !self.binaries.is_empty() || self.program(client).is_some()
    }

    pub fn script(&self, client: &Definition) -> Option<&LockScript> {
        self.scripts.iter().find(|script| script.name == client.name)
    }

    pub fn lock_flags(&self, client: &Definition) -> String {
        let script = self.script(client).map(LockScript::flags);
        script.unwrap_or_else(|| format!("--client {}", client.name))
    }

    /// Panics if the servers do not fit the lock.
    pub fn build(
        &self,
        client: &Definition,
        env: Env,
        servers: &fencepost_clients::Servers,
        settings: &Settings,
    ) -> Box<dyn Lock> {
        match self.script(client) {
            Some(lock) => lock.script.build(env, servers, settings),
            None => (client.build)(env, servers, settings),
        }
    }

    pub(crate) fn gives_up(&self) -> Option<(&'static str, &'static str)> {
        let keys = [("cancel", self.calls.cancel), ("interrupt", self.calls.interrupt)];
        let given = keys.into_iter().find(|(_, calls)| *calls != Calls::None);
        given.map(|(key, calls)| (key, calls.name()))
    }

    /// Smallest allowed availability bound: one lost reply and one retry.
    pub fn soonest(&self) -> Span {
        Span(self.calls.command_timeout.0 + self.calls.retry.max.0)
    }

    pub fn setting(&self, topology: Topology) -> Setting {
        let mut knobs = Knobs::for_ttl(self.ttl.0);
        let set = |knob: &mut Spans, range: Option<SpanRange>| {
            if let Some(range) = range {
                *knob = Spans::new(range.min.0, range.max.0);
            }
        };
        set(&mut knobs.pause, self.faults.pause);
        set(&mut knobs.replication_lag, self.faults.replication_lag);
        knobs.lagging_replicas = self.faults.lagging_replicas.and_then(NonZeroU16::new);
        knobs.failover_by = self.faults.failover_by;
        knobs.struck_servers = self.faults.struck_servers.and_then(NonZeroU16::new);
        knobs.cut_off = self.faults.cut_off;
        set(&mut knobs.clock_jump, self.faults.clock_jump);
        set(&mut knobs.restart_delay, Some(self.faults.restart_delay));
        set(&mut knobs.storage_delay, self.faults.storage_delay);
        set(&mut knobs.latency, self.faults.extra_latency);
        set(&mut knobs.partition, self.faults.partition);
        knobs.drift_ppm = self.faults.drift_ppm;
        let window = Window {
            begin_us: SimTime(self.fault_window.min.0.0),
            end_us: SimTime(self.fault_window.max.0.0),
        };
        Setting { topology, processes: self.processes, ttl_us: self.ttl.0, window, knobs }
    }

    /// Returns `true` if grants depend on replicas. If so, every run has replicas.
    pub fn needs_replicas(&self) -> bool {
        self.servers.min_replicas > 0 || self.servers.wait_replicas > 0
    }

    pub fn validate(&self) -> Result<(), InvalidScenario> {
        self.validate_values()?;
        let Timing { max_time, .. } = self.timing;
        let Servers { wait_replicas, wait_timeout, .. } = self.servers;
        if let Hold::Drawn(range) = self.hold
            && range.max > max_time
        {
            let expected = format!("a range with a maximum of at most max-time ({max_time})");
            return Err(InvalidScenario::new("hold", &range, expected));
        }
        if let Some(bound) = self.availability.filter(|bound| *bound < self.soonest()) {
            let least = format!(
                "at least {}, the sum of command-timeout and the maximum of retry",
                self.soonest()
            );
            return Err(InvalidScenario::new("availability", &bound, least));
        }
        if self.fault_window.max > max_time {
            let longer = format!("at least {}, the end of fault-window", self.fault_window.max);
            return Err(InvalidScenario::new("max-time", &max_time, longer));
        }
        let in_time = Span::millis(1)..self.calls.command_timeout;
        if wait_replicas > 0 && !in_time.contains(&wait_timeout) {
            let timeout = self.calls.command_timeout;
            let expected = format!("at least 1ms and less than command-timeout ({timeout})");
            return Err(InvalidScenario::new("wait-timeout", &wait_timeout, expected));
        }
        Ok(())
    }

    pub fn settings(&self) -> Settings {
        Settings {
            ttl: self.ttl.into(),
            retry: self.calls.retry.durations(),
            acquire_timeout: self.calls.acquire_timeout.into(),
            command_timeout: self.calls.command_timeout.into(),
            node_timeout: self.calls.node_timeout.into(),
            wait: (self.servers.wait_replicas > 0).then(|| ReplicaWait {
                replicas: self.servers.wait_replicas,
                timeout: self.servers.wait_timeout.into(),
            }),
            hears_switches: self.servers.switches == Switches::Heard,
            lock_delay: self.servers.lock_delay.map(Into::into),
        }
    }
}

impl Scenario {
    /// Returns the `--set` values that differ from the built-in scenario, or that the user set.
    pub fn deviations(&self) -> Vec<(String, String)> {
        let kept: Vec<&str> = self.keeps.iter().map(|length| length.key()).collect();
        self.values_beside(&Scenario::default(), &kept)
    }

    /// Returns the `--set` values that differ from another scenario, and those with the given keys.
    pub(crate) fn values_beside(&self, other: &Scenario, keys: &[&str]) -> Vec<(String, String)> {
        let as_map = |scenario: &Scenario| {
            let mut map = match serde_json::to_value(scenario) {
                Ok(serde_json::Value::Object(map)) => map,
                _ => serde_json::Map::new(),
            };
            map.insert("strategy".to_owned(), scenario.strategy.name().into());
            map.insert("nesting".to_owned(), scenario.nesting.name().into());
            map
        };
        let (own, others) = (as_map(self), as_map(other));
        own.iter()
            .filter(|(key, value)| keys.contains(&key.as_str()) || others.get(*key) != Some(value))
            .filter(|(key, _)| {
                !matches!(key.as_str(), "keeps" | "programs" | "scripts" | "binaries")
            })
            .map(|(key, value)| (key.clone(), as_text(value)))
            .collect()
    }

    pub fn flags(&self) -> String {
        let flag = |(key, value): &(String, String)| match key.as_str() {
            "strategy" => format!(" --strategy {value}"),
            _ => format!(" --set {key}={value}"),
        };
        let servers = self.binaries.iter().map(|(coordinator, binary)| {
            format!(" --servers {coordinator}={}", shell_word(&binary.path))
        });
        let deviations = self.deviations();
        let project = self.replays_without_project.then(|| " --no-config".to_owned());
        servers.chain(deviations.iter().map(flag)).chain(project).collect()
    }
}
