//! Searches in steps and then by bisection for the value of a parameter at which a lock breaks.

mod livelock;
pub mod quantity;
#[cfg(test)]
mod tests;

use crate::Engine;
use crate::hosts::coordinators::entry;
use crate::run::RunSpec;
use crate::run::fit::fits;
use crate::run::verdicts::tool;
use crate::setup::lengths::Length;
use crate::setup::scenario::{Hold, Persistence, Scenario, Timing};
use crate::setup::span::{Span, SpanRange};
use crate::studies::sweep::{FailedRun, Listener, Stop, SweepSpec, count};
use fencepost_clients::{Definition, Deployment, LockForm};
use fencepost_faults::{
    Families, Family, Fault, FaultPlan, Micros, Node, Seed, SimTime, TimedFault,
};
use fencepost_reports::documents::boundary::{
    BoundaryReport, FORMAT, Found, Probe, Unit, VERSION, explanation, found, is_monotone,
};
use fencepost_reports::summary::sweep::{SeedRange, Shard};
use fencepost_reports::{Action, Change, Event, History, Kind, StorageRule, What};
use quantity::{Facts, Varied};
use std::collections::BTreeSet;
use std::rc::Rc;

#[derive(Clone)]
pub struct Search {
    pub client: &'static Definition,
    pub families: Families,
    pub scenario: Scenario,
    pub quantity: &'static Varied,
    /// Rule whose violations count; `None` for all rules.
    pub kind: Option<Kind>,
    pub seeds: SeedRange,
    /// Lowest and highest value. They must differ.
    pub range: (u64, u64),
    /// Resolution in the unit of the quantity, at least 1.
    pub step: u64,
    /// Number of equal parts into which probes divide the range before the bisection, at least 1.
    pub parts: u64,
    pub jobs: usize,
}

impl Search {
    pub fn probes_max(&self) -> u64 {
        let part = (self.range.1 - self.range.0) / self.parts;
        let halvings = u64::from(64 - (part / self.step.max(1)).leading_zeros());
        self.parts + 1 + halvings
    }

    pub fn search(
        &self,
        listener: &dyn Listener,
        stop: &Stop,
    ) -> Result<BoundaryReport, SearchError> {
        let facts = self.facts()?;
        let quantity = self.quantity.quantity();
        let mut probes = Vec::new();
        for part in 0..=self.parts {
            let width =
                u128::from(self.range.1 - self.range.0) * u128::from(part) / u128::from(self.parts);
            let value = self.round(self.range.0 + width as u64);
            probes.push(self.probe(value, listener, stop)?);
        }
        while let Some(Found { violated, quiet }) = found(&quantity, &probes)
            && violated.abs_diff(quiet) > self.step
            && !stop.is_asked()
        {
            let (low, high) = (violated.min(quiet), violated.max(quiet));
            let middle = low + (high - low) / 2;
            let middle = Some(self.round(middle)).filter(|round| *round > low).unwrap_or(middle);
            probes.push(self.probe(middle, listener, stop)?);
        }
        probes.sort_by_key(|probe| probe.value);
        let mut report = BoundaryReport {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: tool(),
            config: crate::run::verdicts::config(&self.scenario),
            client: self.client.name.to_owned(),
            fault: self.families.to_string(),
            kind: self.kind,
            seeds: self.seeds,
            found: found(&quantity, &probes),
            monotone: is_monotone(&quantity, &probes),
            quantity,
            step: self.step,
            probes,
            bounds: (self.quantity.bounds)(&facts),
            explanation: String::new(),
        };
        report.explanation = explanation(&report);
        let coordinator = self.client.deployment.coordinator().name();
        if let Some(binary) = self.scenario.binaries.get(coordinator) {
            report.explanation += &format!("\n{}", binary.described(coordinator));
        }
        Ok(report)
    }

    pub fn facts(&self) -> Result<Facts, SearchError> {
        facts(self.client, &self.scenario)
    }

    fn round(&self, value: u64) -> u64 {
        if self.quantity.unit == Unit::Us && value > 1_000 { value - value % 1_000 } else { value }
    }

    fn probe(
        &self,
        value: u64,
        listener: &dyn Listener,
        stop: &Stop,
    ) -> Result<Probe, SearchError> {
        // The calculated bounds assume this scenario's lengths, so no run may draw others.
        let mut scenario = Scenario { keeps: Length::ALL.into(), ..self.scenario.clone() };
        (self.quantity.set)(&mut scenario, value);
        let shown = || self.quantity.quantity().show(value);
        scenario
            .validate()
            .map_err(|error| SearchError::Value { value: shown(), why: error.to_string() })?;
        let unfit = fits(&scenario, self.client, &self.families);
        unfit.map_err(|error| SearchError::Value { value: shown(), why: error.to_string() })?;
        let spec = SweepSpec {
            cells: vec![(self.client, self.families.clone())],
            scenario,
            engine: Engine::Fast,
            seeds: self.seeds,
            shard: Shard::WHOLE,
            jobs: self.jobs,
            fail_fast: false,
            explains: false,
            violations_max: 0,
        };
        let sum = count(&spec, listener, stop).map_err(SearchError::Run)?;
        Ok(Probe::of(value, &sum.cells[0], self.kind))
    }
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SearchError {
    #[error("value {value}: {why}")]
    Value { value: String, why: String },
    #[error("seed {seed}, client {client}, fault {fault}: \
     {error}", seed = .0.seed, client = .0.client, fault = .0.fault, error = .0.error)]
    Run(FailedRun),
}

fn facts(client: &'static Definition, scenario: &Scenario) -> Result<Facts, SearchError> {
    let latency = SpanRange::new(scenario.timing.latency.min, scenario.timing.latency.min);
    let steady = Scenario {
        cycles: scenario.cycles.min(5),
        timing: Timing { latency, ..scenario.timing.clone() },
        ..scenario.clone()
    };
    let alone = alone(client, &steady)?;
    let deployment = client.deployment;
    let coordinator = entry(deployment.coordinator());
    let session = (coordinator.lease)(scenario.ttl.0);
    let session = deployment.lives_with_session().then_some(session);
    let expires = session.is_none() && (alone.has_lease || is_taken_over(client, steady)?);
    Ok(Facts {
        coordinator: coordinator.coordinator,
        longest_hold: longest_hold(scenario, deployment, alone),
        tick: coordinator.tick,
        session,
        expires,
        steps_end_leases: expires && has_wall_clock(deployment),
        loses_grants: loses_grants(deployment, scenario.servers.persistence),
        storage_is_fenced: client.has_tokens && scenario.storage == StorageRule::Fenced,
        scenario: scenario.clone(),
    })
}

/// Returns whether the clock that ends a lock's lease is a wall clock, of the server or of the
/// processes. memcached and PostgreSQL's timeouts use a monotonic clock.
fn has_wall_clock(deployment: Deployment) -> bool {
    !matches!(deployment, Deployment::Memcached | Deployment::PostgreSql(LockForm::Connection))
}

/// Returns whether a server that restarts may have lost grants that have not expired. A lock tied
/// to a connection ends when the connection breaks.
fn loses_grants(deployment: Deployment, persistence: Persistence) -> bool {
    match deployment {
        Deployment::Primary | Deployment::Independent => persistence != Persistence::AofAlways,
        Deployment::PostgreSql(form) => form == LockForm::Connection,
        Deployment::GemFire(form) => form == LockForm::MemberLease,
        Deployment::Memcached | Deployment::MySql | Deployment::Own => true,
        Deployment::ZooKeeper | Deployment::Etcd(_) | Deployment::Chubby => false,
    }
}

#[derive(Clone, Copy)]
struct Alone {
    valid: Option<Micros>,
    lead: Micros,
    /// `true` if the server recorded the lifetime of a grant.
    has_lease: bool,
}

/// Returns whether another process is granted the lock while its holder is paused for three ttls. A
/// lock without a recorded lifetime may still expire: its value may contain the end of the lease,
/// or the server may end its connection.
fn is_taken_over(client: &'static Definition, scenario: Scenario) -> Result<bool, SearchError> {
    let hold = Span::secs(5);
    let scenario =
        Scenario { processes: 2, hold: Hold::Drawn(SpanRange::new(hold, hold)), ..scenario };
    let calm = spec_alone(client, scenario);
    let mut granted = grants(&run(&calm)?).into_iter().filter(|(_, by)| *by != Node::Probe);
    let Some((at, holder)) = granted.next() else { return Ok(false) };
    let duration_us = Micros(3 * calm.scenario.ttl.0.0);
    let from = at + Micros::from_secs(1);
    let pause = Fault::Pause { node: holder.machine(), duration_us };
    let plan = FaultPlan { faults: vec![TimedFault { id: 1, at_us: from, fault: pause }] };
    let paused = grants(&run(&RunSpec { plan, ..calm })?);
    let until = from + duration_us;
    Ok(paused.iter().any(|(at, by)| *by != holder && from < *at && *at < until))
}

fn grants(history: &History) -> Vec<(SimTime, Node)> {
    let grant = |event: &Event| match &event.what {
        What::Server { change: Change::Granted, by: Some(by), .. } => Some((event.time_us, *by)),
        _ => None,
    };
    history.events.iter().filter_map(grant).collect()
}

fn spec_alone(client: &'static Definition, scenario: Scenario) -> RunSpec {
    RunSpec::draw(Seed(0), client, &Families::from(Family::None), Rc::new(scenario))
}

fn run(spec: &RunSpec) -> Result<History, SearchError> {
    let failed = |error| {
        let (client, fault) = (spec.client.name.to_owned(), spec.families.to_string());
        SearchError::Run(FailedRun { client, fault, seed: spec.seed, error })
    };
    Ok(spec.run(Engine::Fast).map_err(failed)?.history)
}

fn alone(client: &'static Definition, scenario: &Scenario) -> Result<Alone, SearchError> {
    let history = run(&spec_alone(client, Scenario { processes: 1, ..scenario.clone() }))?;
    let mut alone = Alone { valid: None, lead: Micros::ZERO, has_lease: false };
    let mut granted: Vec<(Node, Option<&str>, SimTime)> = Vec::new();
    let mut acquires = BTreeSet::new();
    for event in &history.events {
        alone.has_lease |=
            matches!(event.what, What::Server { lease_us: Some(_), by: Some(_), .. });
        match &event.what {
            What::Invoke { operation, action: Action::Acquire } => {
                acquires.insert(*operation);
                granted.retain(|(by, ..)| *by != event.node);
            }
            What::Server { change: Change::Granted, by: Some(by), value, .. } => {
                granted.push((*by, value.as_deref(), event.time_us));
            }
            What::Ok { operation, owner, valid_for_us, .. } if acquires.contains(operation) => {
                let own = || granted.iter().filter(|(by, ..)| *by == event.node);
                let first = own().find(|(_, value, _)| *value == owner.as_deref());
                let first = first.or_else(|| own().next()).map(|(.., at)| *at);
                let lead = first.map_or(Micros::ZERO, |first| event.time_us.since(first));
                alone.valid = alone.valid.max(valid_for_us.map(|valid| valid + lead));
                alone.lead = alone.lead.max(lead);
            }
            _ => {}
        }
    }
    Ok(alone)
}

/// One for the acquire's reply, two to connect to the storage, four for two requests and replies.
const MESSAGES_OF_A_HOLD: u64 = 7;

/// Returns the longest time from the first server's grant to the end of the critical section. The
/// result is at most the lease's validity minus the minimum latency, because the next holder learns
/// of its grant only after that latency.
fn longest_hold(scenario: &Scenario, deployment: Deployment, alone: Alone) -> Micros {
    let heard = scenario.timing.latency.min.0;
    let valid = alone.valid.unwrap_or(scenario.ttl.0 + alone.lead);
    let valid = Micros(valid.0.saturating_sub(heard.0));
    match scenario.hold {
        Hold::Drawn(range) => {
            let messages = Micros(scenario.timing.latency.max.0.0 * MESSAGES_OF_A_HOLD);
            let others = match deployment {
                Deployment::Independent => u64::from(scenario.servers.masters.saturating_sub(1)),
                _ => 0,
            };
            (range.max.0 + messages + Micros(scenario.calls.node_timeout.0.0 * 2 * others))
                .min(valid)
        }
        Hold::UntilValidity => valid,
    }
}
