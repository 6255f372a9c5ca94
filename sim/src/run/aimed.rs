//! Moves about half of the movable incidents to commands and phases of processes. For each part of
//! the early fault window, a scout locates these places ([`places`]).

use super::places::places;
use super::recording::Recording;
use super::spec::RunSpec;
use crate::setup::span::Span;
use fencepost_faults::aim::{AimContext, Place, aimed, is_aimed};
use fencepost_faults::{
    DrawnIncident, Fault, FaultPlan, Micros, Node, Setting, SimTime, Stream, TimedFault, Window,
    plan_of,
};
use std::rc::Rc;

/// Maximum number of scouts for a plan. Further incidents share these scouts.
const SCOUTS_MAX: usize = 4;

const EARLY: Micros = Micros::from_secs(30);

/// An incident that fits nowhere keeps its time, or is dropped if it would then collide.
pub(super) fn plan(spec: &RunSpec, drawn: Vec<DrawnIncident>, setting: &Setting) -> FaultPlan {
    let mut rng = spec.seed.stream(Stream::Aim);
    let (to_move, mut others): (Vec<_>, Vec<_>) =
        drawn.into_iter().partition(|incident| is_aimed(&mut rng, incident));
    let scouts = to_move.len().min(SCOUTS_MAX);
    for (number, part) in parts(early(setting.window), scouts).into_iter().enumerate() {
        let places = scout(spec, &others, part);
        let own = to_move.iter().skip(number).step_by(scouts);
        for incident in own {
            let quantum = spec.scenario.timing.quantum.0;
            let context = AimContext { setting, quantum, places: &places, others: &others };
            let moved = aimed(&mut rng, incident, part, &context);
            others.extend(moved.or_else(|| context.unmoved(incident)));
        }
    }
    of(&others)
}

/// Returns the part of the window to which aimed incidents move. A scout runs up to the end of its
/// part, so late incidents would make scouts slow.
fn early(window: Window) -> Window {
    let length = window.length().0;
    let early = (length / 2).max(length.min(EARLY.0));
    Window { end_us: window.begin_us + Micros(early), ..window }
}

fn of(incidents: &[DrawnIncident]) -> FaultPlan {
    plan_of(incidents.iter().flat_map(|one| one.incident.faults.clone()).collect())
}

fn parts(window: Window, count: usize) -> Vec<Window> {
    let count = count as u64;
    let cut = |index: u64| window.begin_us + Micros(window.length().0 / count * index);
    (0..count)
        .map(|index| Window {
            begin_us: cut(index),
            end_us: if index + 1 == count { window.end_us } else { cut(index + 1) },
        })
        .collect()
}

/// Returns a fault without effect. It only delays the probe, because the probe waits for faults.
fn never(end: SimTime) -> TimedFault {
    let fault = Fault::ClockJump { node: Node::Storage, offset_us: 0 };
    TimedFault { id: u32::MAX, at_us: end + Micros::from_secs(1), fault }
}

fn scout(spec: &RunSpec, incidents: &[DrawnIncident], part: Window) -> Vec<Place> {
    let mut scenario = (*spec.scenario).clone();
    scenario.timing.max_time = scenario.timing.max_time.min(Span(Micros(part.end_us.0)));
    // A plan must not depend on `--servers`.
    scenario.binaries.clear();
    let mut plan = of(incidents);
    plan.faults.push(never(part.end_us));
    let scout = RunSpec { plan, scenario: Rc::new(scenario), ..spec.clone() };
    match scout.run_as_scout(Recording::Commands) {
        Ok(outcome) => places(&outcome.history, &outcome.trace.unwrap_or_default()),
        Err(_) => Vec::new(),
    }
}
