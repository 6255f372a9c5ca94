//! Records one run, to find where another fault can be placed.

use super::base::Base;
use super::bounds::Bounds;
use crate::engine::{Engine, EngineError};
use crate::run::{Recording, RunOutcome};
use fencepost_faults::{Fault, FaultPlan, Micros, Node, SimTime, TimedFault};
use fencepost_reports::{Event, History, What};
use std::collections::BTreeSet;

pub(crate) struct Scout {
    pub(crate) turns: Vec<(SimTime, Node)>,
    pub(crate) messages: Vec<Message>,
    pub(crate) held_up: Vec<(SimTime, (Node, Node))>,
    pub(crate) told: BTreeSet<SimTime>,
    pub(crate) timers: BTreeSet<(SimTime, Node)>,
    pub(crate) leases: BTreeSet<SimTime>,
}

pub(crate) struct Message {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) sent: SimTime,
    pub(crate) arrived: Option<SimTime>,
}

impl Scout {
    pub(crate) fn event_times_on(&self, links: &[(Node, Node)]) -> BTreeSet<SimTime> {
        let own = self.messages.iter().filter(|message| links.contains(&message.link()));
        own.flat_map(|message| [Some(message.sent), message.arrived])
            .flatten()
            .chain(self.held_up_on(links))
            .collect()
    }

    pub(crate) fn held_up_on(&self, links: &[(Node, Node)]) -> impl Iterator<Item = SimTime> {
        self.held_up.iter().filter(|(_, link)| links.contains(link)).map(|(at, _)| *at)
    }

    pub(crate) fn timers_of(&self, process: Node) -> impl Iterator<Item = SimTime> {
        self.timers.iter().filter(move |(_, node)| *node == process).map(|(at, _)| *at)
    }
}

impl Message {
    pub(crate) fn link(&self) -> (Node, Node) {
        (self.from, self.to)
    }
}

const CYCLE_MAX: Micros = Micros::from_secs(60);
const REST: Micros = Micros::from_secs(60);

pub(crate) fn scout(bounds: &Bounds, base: &Base, plan: &FaultPlan) -> Result<Scout, EngineError> {
    let (outcome, probe_at) = run_with_late_probe(bounds, base, plan)?;
    let is_before = |at: &SimTime| *at < probe_at;
    let told: BTreeSet<SimTime> = outcome
        .history
        .events
        .iter()
        .filter(|event| event.what.is_digested() && is_before(&event.time_us))
        .map(|event| event.time_us)
        .collect();
    let end = told.last().copied().unwrap_or(SimTime::ZERO);
    let messages: Vec<Message> = outcome
        .trace
        .into_iter()
        .flat_map(|trace| trace.messages)
        .map(|message| Message {
            from: message.from.machine(),
            to: message.to.machine(),
            sent: message.sent_us,
            arrived: message.arrived_us,
        })
        .collect();
    let turns: Vec<(SimTime, Node)> =
        outcome.turns.into_iter().take_while(|(at, _)| *at <= end).collect();
    let timers = timers(&turns, &messages);
    let machines = |(at, (from, to)): (SimTime, (Node, Node))| (at, (from.machine(), to.machine()));
    let held_up = outcome.held_up.into_iter().map(machines).collect();
    Ok(Scout { turns, messages, held_up, told, timers, leases: leases(&outcome.history) })
}

/// Runs the plan with a probe that starts after all work of the processes. If a process is still
/// working when the probe starts, repeats the run with a later probe. The limit on the length of a
/// run bounds the number of repetitions. Returns the run and the start of its probe.
fn run_with_late_probe(
    bounds: &Bounds,
    base: &Base,
    plan: &FaultPlan,
) -> Result<(RunOutcome, SimTime), EngineError> {
    let work = Micros(CYCLE_MAX.0 * u64::from(bounds.scenario.cycles));
    let mut probe_at = plan.heals_at() + work + REST;
    loop {
        let mut spec = bounds.spec(base, plan.clone());
        spec.plan.faults.push(late(probe_at));
        let outcome = spec.run_recording(Engine::Fast, Recording::Turns)?;
        let is_late = |event: &Event| event.time_us >= probe_at && is_work(event);
        if !outcome.history.events.iter().any(is_late) {
            return Ok((outcome, probe_at));
        }
        probe_at = SimTime(probe_at.0.saturating_mul(2));
    }
}

/// Returns `true` for an event of a process other than the probe, or of its request.
fn is_work(event: &Event) -> bool {
    let node = match event.what {
        What::Server { by: Some(process), .. } | What::Storage { by: process, .. } => process,
        _ => event.node,
    };
    event.what.is_digested() && matches!(node.machine(), Node::Client(_))
}

fn late(at_us: SimTime) -> TimedFault {
    TimedFault {
        id: u32::MAX,
        at_us,
        fault: Fault::ClockJump { node: Node::Storage, offset_us: 0 },
    }
}

/// Counts each turn in which no message arrives at the process as a timer.
fn timers(turns: &[(SimTime, Node)], messages: &[Message]) -> BTreeSet<(SimTime, Node)> {
    let arrivals: BTreeSet<(SimTime, Node)> =
        messages.iter().filter_map(|message| Some((message.arrived?, message.to))).collect();
    turns.iter().filter(|turn| turn.1.is_process() && !arrivals.contains(turn)).copied().collect()
}

fn leases(history: &History) -> BTreeSet<SimTime> {
    let end = |event: &Event| match event.what {
        What::Server { lease_us: Some(span), .. } | What::Ok { valid_for_us: Some(span), .. } => {
            Some(event.time_us + span)
        }
        _ => None,
    };
    history.events.iter().filter_map(end).collect()
}
