//! What one run shows to whoever wants to add a fault to it.

use super::base::Base;
use super::bounds::Bounds;
use crate::engine::{Engine, EngineError};
use crate::run::Recording;
use fencepost_faults::{Fault, FaultPlan, Micros, Node, SimTime, TimedFault};
use fencepost_reports::{History, What};
use std::collections::BTreeSet;

/// A run with every turn and message written down. Its probe begins long after everybody is done:
/// that of the run with the fault to be added does not begin before that fault is over.
pub(crate) struct Scout {
    /// When which machine had a turn, up to the last thing that the history tells of before the
    /// probe begins.
    pub(crate) turns: Vec<(SimTime, Node)>,
    /// Every message, in the order in which they were sent.
    pub(crate) messages: Vec<Message>,
    /// When a message was held up, or one that had been was tried again, and on which link.
    pub(crate) held_up: Vec<(SimTime, (Node, Node))>,
    /// When the history tells of something.
    pub(crate) told: BTreeSet<SimTime>,
    /// When a timer of a process was due, and of which.
    pub(crate) timers: BTreeSet<(SimTime, Node)>,
    /// When leases end, as servers and locks state it.
    pub(crate) leases: BTreeSet<SimTime>,
}

/// A message on the wire.
pub(crate) struct Message {
    pub(crate) from: Node,
    pub(crate) to: Node,
    pub(crate) sent: SimTime,
    pub(crate) arrived: Option<SimTime>,
}

impl Scout {
    /// When the network looked whether something passes on one of these links: it does when a
    /// message is sent, is due, or is tried again.
    pub(crate) fn looks_at(&self, links: &[(Node, Node)]) -> BTreeSet<SimTime> {
        let own = self.messages.iter().filter(|message| links.contains(&message.link()));
        own.flat_map(|message| [Some(message.sent), message.arrived])
            .flatten()
            .chain(self.held_up_on(links))
            .collect()
    }

    /// When a message was held up on one of these links, or one that had been was tried again.
    pub(crate) fn held_up_on(&self, links: &[(Node, Node)]) -> impl Iterator<Item = SimTime> {
        self.held_up.iter().filter(|(_, link)| links.contains(link)).map(|(at, _)| *at)
    }

    /// When a timer of this process was due.
    pub(crate) fn timers_of(&self, process: Node) -> impl Iterator<Item = SimTime> {
        self.timers.iter().filter(move |(_, node)| *node == process).map(|(at, _)| *at)
    }
}

impl Message {
    /// Its direction of its link.
    pub(crate) fn link(&self) -> (Node, Node) {
        (self.from, self.to)
    }
}

/// How long after the faults the processes may still be at work, for each cycle, at most.
const CYCLE_MAX: Micros = Micros::from_secs(60);
/// How long after that the probe begins.
const REST: Micros = Micros::from_secs(60);

/// Runs a plan and looks at all that happens.
pub(crate) fn scout(bounds: &Bounds, base: &Base, plan: &FaultPlan) -> Result<Scout, EngineError> {
    let work = Micros(CYCLE_MAX.0 * u64::from(bounds.scenario.cycles));
    let probe_at = plan.heals_at() + work + REST;
    let mut spec = bounds.spec(base, plan.clone());
    spec.plan.faults.push(late(probe_at));
    let outcome = spec.run_recording(Engine::Fast, Recording::Turns)?;
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

/// A fault that does nothing: it puts the probe off.
fn late(at_us: SimTime) -> TimedFault {
    TimedFault {
        id: u32::MAX,
        at_us,
        fault: Fault::ClockJump { node: Node::Storage, offset_us: 0 },
    }
}

/// Turns of processes to which no message came: a timer was due.
fn timers(turns: &[(SimTime, Node)], messages: &[Message]) -> BTreeSet<(SimTime, Node)> {
    let arrivals: BTreeSet<(SimTime, Node)> =
        messages.iter().filter_map(|message| Some((message.arrived?, message.to))).collect();
    turns.iter().filter(|turn| turn.1.is_process() && !arrivals.contains(turn)).copied().collect()
}

fn leases(history: &History) -> BTreeSet<SimTime> {
    let end = |event: &fencepost_reports::Event| match event.what {
        What::Server { lease_us: Some(span), .. } | What::Ok { valid_for_us: Some(span), .. } => {
            Some(event.time_us + span)
        }
        _ => None,
    };
    history.events.iter().filter_map(end).collect()
}
