//! Tests whether a violation depends on the order of two events. For each event in the narrative or
//! the witness, the search tries to make one of the next such events happen first: it delays a
//! message, pauses a process, or moves or lengthens a fault.

use super::minimal::with_plan;
use super::target::{Target, breaks, history as run};
use crate::engine::Engine;
use crate::run::{Recording, RunSpec};
use fencepost_faults::{
    Fault, FaultPlan, Magnitude, Micros, Node, SimTime, TimedFault, magnitudes, with_magnitude,
};
use fencepost_reports::explain::order::{OrderedPair, Step};
use fencepost_reports::{Access, Event, History, Trace, What, judge};
use std::collections::BTreeSet;

const NEXT_MAX: usize = 3;

const PROGRAM_RUNS_MAX: usize = 40;

pub(super) fn necessary_order(spec: &RunSpec, target: Target) -> Vec<OrderedPair> {
    let Ok(outcome) = spec.run_recording(Engine::Fast, Recording::Wire) else { return Vec::new() };
    let Some(trace) = outcome.trace else { return Vec::new() };
    let history = outcome.history;
    let told = narrative_events(&history, target);
    let is_program = spec.scenario.program(spec.client).is_some();
    let mut left = if is_program { PROGRAM_RUNS_MAX } else { usize::MAX };
    let mut swapped = |place: usize| {
        let later = told[place + 1..].iter().take(NEXT_MAX.min(left));
        later.into_iter().find_map(|then| {
            left -= 1;
            Swap { spec, history: &history, trace: &trace, first: told[place], then: *then }
                .try_with(target)
        })
    };
    (0..told.len()).filter_map(&mut swapped).collect()
}

fn narrative_events(history: &History, target: Target) -> Vec<usize> {
    let violations = judge(history).violations;
    let shown =
        violations.into_iter().filter(|one| one.kind == target.kind && one.cause == target.cause);
    let numbers = shown.flat_map(|one| {
        let lines = one.narrative.into_iter().map(|line| line.event as usize);
        lines
            .chain(one.witness.into_iter().map(|event| event.sequence as usize))
            .collect::<Vec<_>>()
    });
    numbers.collect::<BTreeSet<usize>>().into_iter().collect()
}

struct Swap<'s> {
    spec: &'s RunSpec,
    history: &'s History,
    trace: &'s Trace,
    first: usize,
    then: usize,
}

impl Swap<'_> {
    fn try_with(&self, target: Target) -> Option<OrderedPair> {
        let swap = self.delayed_first()?;
        let history = run(&with_plan(self.spec, &self.plan_with(&swap)))?;
        if !self.matches_until(swap.at_us, &history) {
            return None;
        }
        let then = position(&history, &Name::of(self.history, self.then))?;
        let first = position(&history, &Name::of(self.history, self.first));
        let changed_places = first.is_none_or(|first| then < first);
        changed_places.then(|| OrderedPair {
            first: Step::of(self.history, self.first),
            then: Step::of(self.history, self.then),
            swap,
            violation_if_swapped: breaks(&history, target.kind),
        })
    }

    fn matches_until(&self, begins: SimTime, other: &History) -> bool {
        let until = begins.min(self.history.events[self.first].time_us);
        let before = |event: &&Event| event.time_us < until;
        let shown = |history: &History| {
            let events =
                history.events.iter().take_while(before).filter(|event| !is_of_the_probe(event));
            events
                .map(|event| (event.time_us, event.node, event_label(&event.what)))
                .collect::<Vec<_>>()
        };
        shown(self.history) == shown(other)
    }

    fn plan_with(&self, swap: &TimedFault) -> FaultPlan {
        let others = self.spec.plan.faults.iter().filter(|timed| timed.id != swap.id).cloned();
        FaultPlan::new(others.chain([swap.clone()]).collect())
    }

    fn delayed_first(&self) -> Option<TimedFault> {
        let first = &self.history.events[self.first];
        match &first.what {
            What::FaultBegan { fault, .. } => {
                let timed = self.planned(*fault)?;
                // A fault that began later than planned waited for another event, so a later
                // planned time might not delay it.
                let began = timed.at_us + self.quantum() > first.time_us;
                began.then(|| TimedFault {
                    at_us: timed.at_us + self.swap_length(),
                    ..timed.clone()
                })
            }
            What::FaultEnded { fault, .. } => {
                let timed = self.planned(*fault)?;
                let lasts = [Magnitude::DurationUs, Magnitude::DownUs];
                let (magnitude, value) =
                    magnitudes(&timed.fault).into_iter().find(|(one, _)| lasts.contains(one))?;
                let longer = value + i64::try_from(self.swap_length().as_micros()).ok()?;
                Some(TimedFault {
                    fault: with_magnitude(&timed.fault, magnitude, longer),
                    ..timed.clone()
                })
            }
            What::Server { by: Some(by), .. } | What::Storage { by, .. } => self.delay(*by, first),
            What::Server { .. }
            | What::Crashed
            | What::Started
            | What::Healed
            | What::Turn { .. }
            | What::Silent { .. } => None,
            What::Invoke { .. }
            | What::Ok { .. }
            | What::Fail { .. }
            | What::Info { .. }
            | What::GivenUp { .. }
            | What::About { .. }
            | What::Lost => {
                let fault =
                    Fault::Pause { node: first.node.machine(), duration_us: self.swap_length() };
                Some(TimedFault { id: self.fresh_id(), at_us: first.time_us, fault })
            }
        }
    }

    fn delay(&self, from: Node, event: &Event) -> Option<TimedFault> {
        const NO_DATA: [&str; 5] = ["connect", "accepted", "refused", "end", "reset"];
        let asked = self.trace.messages.iter().filter(|message| {
            let arrived = message.arrived_us.is_some_and(|at| at <= event.time_us);
            message.from == from
                && message.to == event.node
                && arrived
                && !NO_DATA.contains(&message.label.as_str())
        });
        let message = asked.max_by_key(|message| message.arrived_us)?;
        let extra = self.swap_length();
        let fault = Fault::Delay {
            from: vec![from.machine()],
            to: vec![event.node],
            extra_us_min: extra,
            extra_us_max: extra,
            duration_us: self.quantum(),
        };
        Some(TimedFault { id: self.fresh_id(), at_us: message.sent_us, fault })
    }

    fn swap_length(&self) -> Micros {
        let at = |index: usize| self.history.events[index].time_us;
        at(self.then).since(at(self.first)) + self.quantum()
    }

    fn quantum(&self) -> Micros {
        self.spec.scenario.timing.quantum.0
    }

    fn planned(&self, id: u32) -> Option<&TimedFault> {
        self.spec.plan.faults.iter().find(|timed| timed.id == id)
    }

    fn fresh_id(&self) -> u32 {
        self.spec.plan.faults.iter().map(|timed| timed.id).max().map_or(0, |greatest| greatest + 1)
    }
}

/// Identifies an event across runs without its operation number, which may differ between runs.
#[derive(PartialEq, Eq)]
struct Name {
    node: Node,
    what: String,
    before: usize,
}

impl Name {
    fn of(history: &History, index: usize) -> Name {
        let event = &history.events[index];
        let what = event_label(&event.what);
        let alike = |other: &&Event| other.node == event.node && event_label(&other.what) == what;
        Name {
            node: event.node,
            before: history.events[..index].iter().filter(alike).count(),
            what,
        }
    }
}

fn position(history: &History, name: &Name) -> Option<(SimTime, usize)> {
    let alike = history
        .events
        .iter()
        .enumerate()
        .filter(|(_, event)| event.node == name.node && event_label(&event.what) == name.what);
    alike.map(|(index, event)| (event.time_us, index)).nth(name.before)
}

fn is_of_the_probe(event: &Event) -> bool {
    let asked = match &event.what {
        What::Server { by, .. } => *by,
        What::Storage { by, .. } => Some(*by),
        _ => None,
    };
    [Some(event.node), asked].into_iter().flatten().any(|node| node.machine() == Node::Probe)
}

fn event_label(what: &What) -> String {
    match what {
        What::Invoke { action, .. } => action.name().to_owned(),
        What::Ok { owner, value, .. } => match (owner, value) {
            (Some(owner), _) => format!("granted {owner}"),
            (None, Some(_)) => "has read".to_owned(),
            (None, None) => "ok".to_owned(),
        },
        What::Fail { .. } => "fail".to_owned(),
        What::Info { .. } => "info".to_owned(),
        What::GivenUp { how, .. } => format!("{how:?}"),
        What::About { lock } => format!("about {lock}"),
        What::Lost => "lost".to_owned(),
        What::Silent { ahead, .. } => format!("silent, {ahead}"),
        What::Crashed => "crashed".to_owned(),
        What::Turn { turn, about } => format!("{turn:?} {about:?}"),
        What::Started => "started".to_owned(),
        What::Server { key, change, value, by, primary, .. } => {
            format!("{key} {change:?} {value:?} {by:?} {primary}")
        }
        What::Storage { by, access: Access::Read, accepted, .. } => {
            format!("read by {by}, {accepted}")
        }
        What::Storage { by, access: Access::Write, accepted, .. } => {
            format!("write by {by}, {accepted}")
        }
        What::FaultBegan { fault, .. } => format!("fault {fault} begins"),
        What::FaultEnded { fault, .. } => format!("fault {fault} ends"),
        What::Healed => "healed".to_owned(),
    }
}
