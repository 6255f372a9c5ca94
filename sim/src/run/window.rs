//! Shortens the fault window of a program that ends before the first fault. Runs with the same
//! lock, topology and scenario share a scout without faults, which measures the end. If the first
//! fault is a little later than that end, a second scout measures the end with the seed of the run.

use super::recording::Recording;
use super::spec::RunSpec;
use crate::setup::scenario::Scenario;
use crate::setup::span::Span;
use fencepost_faults::setting::Window;
use fencepost_faults::{FaultPlan, Micros, Node, Seed, SimTime};
use fencepost_reports::History;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Mutex;

const ROUNDS_UNCHANGED: u64 = 10;
const VARIES: u64 = 3;

static KNOWN: Mutex<BTreeMap<String, Option<SimTime>>> = Mutex::new(BTreeMap::new());

pub(super) fn shortened_for_program(run: &RunSpec, stated: Window) -> Option<Window> {
    let built_in = Scenario::default().fault_window;
    let is_stated = run.scenario.fault_window != built_in;
    if is_stated || run.scenario.program(run.client).is_none() {
        return None;
    }
    let first = run.plan.faults.iter().map(|timed| timed.at_us).min()?;
    let ran = cached_end(run, stated)?;
    let has_ended = match first {
        first if first < ran => false,
        first if first.0 >= ran.0.saturating_mul(VARIES) => true,
        first => measured_end(run, run.seed, stated).is_some_and(|ran| ran <= first),
    };
    has_ended.then(|| within(stated, ran))
}

fn cached_end(run: &RunSpec, stated: Window) -> Option<SimTime> {
    let key = format!(
        "{} {:?} {}",
        run.client.name,
        run.topology(),
        serde_json::to_string(&*run.scenario).unwrap_or_default()
    );
    let known = || KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(ran) = known().get(&key) {
        return *ran;
    }
    let ran = measured_end(run, Seed(0), stated);
    known().insert(key, ran);
    ran
}

fn within(stated: Window, ran: SimTime) -> Window {
    let begin_us = stated.begin_us.min(SimTime(ran.0 / ROUNDS_UNCHANGED));
    Window { begin_us, end_us: stated.end_us.min(ran).max(begin_us) }
}

fn measured_end(spec: &RunSpec, seed: Seed, stated: Window) -> Option<SimTime> {
    let mut scenario = (*spec.scenario).clone();
    scenario.timing.max_time = scenario.timing.max_time.min(Span(Micros(stated.end_us.0)));
    let scout =
        RunSpec { seed, plan: FaultPlan::default(), scenario: Rc::new(scenario), ..spec.clone() };
    let outcome = scout.run_as_scout(Recording::History).ok()?;
    let last = last_client_event(&outcome.history)?;
    (last + spec.scenario.ttl.0 < stated.end_us).then_some(last)
}

fn last_client_event(history: &History) -> Option<SimTime> {
    let deeds = history.events.iter().filter(|event| matches!(event.node, Node::Client(_)));
    deeds.map(|event| event.time_us).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_ends_with_the_program_and_begins_early_in_it() {
        let stated = Window::default();
        let of = |ran_ms: u64| {
            let window = within(stated, SimTime(ran_ms * 1_000));
            [window.begin_us, window.end_us].map(|at| at.0 / 1_000)
        };
        assert_eq!(of(4_000), [400, 4_000]);
        assert_eq!(of(30_000), [2_000, 30_000]);
        assert_eq!(of(90_000), [2_000, 60_000]);
    }
}
