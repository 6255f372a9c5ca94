//! Minimizes a run with a violation: removes, moves and shrinks faults, cycles and processes.

use super::target::{Memory, Target};
use super::variation::moved;
use crate::run::RunSpec;
use crate::setup::scenario::Scenario;
use fencepost_faults::shrink::Boundary;
use fencepost_faults::{FaultPlan, Node, fewest_faults, shrink};
use std::rc::Rc;

/// Maximum number of runs in a search without traced processes.
pub const SEARCH_RUNS_MAX: u32 = 1_500;
const TRACED_RUNS_MAX: u32 = 100;
const RESERVED: u32 = 700;

#[derive(Clone)]
pub struct Minimal {
    pub spec: RunSpec,
    pub boundaries: Vec<Boundary>,
    pub calls: u32,
    /// `false` if the search reached its limit. A smaller run may then exist.
    pub complete: bool,
}

/// Minimizes a run that shows the target. Returns `None` if the run does not show the target.
pub fn minimise(spec: &RunSpec, target: Target) -> Option<Minimal> {
    minimise_with(&Memory::default(), spec, target)
}

pub(super) fn minimise_with(memory: &Memory, spec: &RunSpec, target: Target) -> Option<Minimal> {
    let calls_max = if spec.is_traced() { TRACED_RUNS_MAX } else { SEARCH_RUNS_MAX };
    let mut search = Search { target, memory, calls: 0, calls_max, refused: false };
    let mut best = spec.clone();
    best.plan = search.fewest_faults(&best)?;
    best.plan = search.one_or_two_moved(&best);
    let mut boundaries;
    loop {
        best = search.smaller_workload(best);
        let before = best.plan.clone();
        let shrunk = search.shrink(&best)?;
        best.plan = shrunk.0;
        boundaries = shrunk.1;
        // A smaller plan may allow a smaller workload, and vice versa.
        if search.refused || best.plan == before {
            break;
        }
    }
    Some(Minimal { spec: best, boundaries, calls: search.calls, complete: !search.refused })
}

struct Search<'m> {
    target: Target,
    memory: &'m Memory,
    calls: u32,
    calls_max: u32,
    refused: bool,
}

impl Search<'_> {
    fn fewest_faults(&mut self, spec: &RunSpec) -> Option<FaultPlan> {
        let left = self.calls_max - self.calls;
        let shrunk = fewest_faults(&spec.plan, left, |plan| {
            self.memory.shows(&with_plan(spec, plan), self.target)
        })?;
        self.calls += shrunk.calls;
        self.refused |= !shrunk.complete;
        Some(shrunk.plan)
    }

    /// Tries one or two faults alone at other times, because the other faults may only delay them.
    fn one_or_two_moved(&mut self, spec: &RunSpec) -> FaultPlan {
        let faults = &spec.plan.faults;
        if faults.len() < 3 {
            return spec.plan.clone();
        }
        let singles = faults.iter().map(|timed| FaultPlan::new(vec![timed.clone()]));
        let last = faults.last().cloned();
        let pairs = faults[..faults.len() - 1].iter().map(|timed| {
            FaultPlan::new([Some(timed.clone()), last.clone()].into_iter().flatten().collect())
        });
        for plan in singles.chain(pairs) {
            for moved in moved(&plan) {
                if self.calls + RESERVED >= self.calls_max {
                    return spec.plan.clone();
                }
                if self.shows(&with_plan(spec, &moved)) {
                    return moved;
                }
            }
        }
        spec.plan.clone()
    }

    fn shrink(&mut self, spec: &RunSpec) -> Option<(FaultPlan, Vec<Boundary>)> {
        let left = self.calls_max - self.calls;
        if left == 0 {
            self.refused = true;
            return Some((spec.plan.clone(), Vec::new()));
        }
        let shrunk = shrink(&spec.plan, left, |plan| {
            self.memory.shows(&with_plan(spec, plan), self.target)
        })?;
        self.calls += shrunk.calls;
        self.refused |= !shrunk.complete;
        Some((shrunk.plan, shrunk.boundaries))
    }

    fn smaller_workload(&mut self, mut spec: RunSpec) -> RunSpec {
        loop {
            spec = self.fewer_cycles(spec);
            let processes = spec.scenario.processes;
            spec = self.fewer_processes(spec);
            if spec.scenario.processes == processes {
                return spec;
            }
        }
    }

    fn fewer_cycles(&mut self, spec: RunSpec) -> RunSpec {
        let with = |cycles| with_scenario(&spec, |scenario| scenario.cycles = cycles);
        let (mut too_few, mut enough) = (0, spec.scenario.cycles);
        let mut tried = 1;
        while tried < enough {
            if self.shows(&with(tried)) {
                enough = tried;
            } else {
                too_few = tried;
                tried *= 2;
            }
        }
        while enough - too_few > 1 {
            let middle = too_few + (enough - too_few) / 2;
            if self.shows(&with(middle)) {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        with(enough)
    }

    fn fewer_processes(&mut self, spec: RunSpec) -> RunSpec {
        let with = |processes| with_scenario(&spec, |scenario| scenario.processes = processes);
        let named = spec.plan.faults.iter().flat_map(|timed| timed.fault.nodes());
        let last = named
            .filter_map(|node| if let Node::Client(number) = node { Some(number) } else { None })
            .max();
        let fewest = (last.unwrap_or(1)..spec.scenario.processes)
            .find(|processes| self.shows(&with(*processes)));
        fewest.map_or_else(|| spec.clone(), with)
    }

    fn shows(&mut self, spec: &RunSpec) -> bool {
        if self.calls == self.calls_max {
            self.refused = true;
            return false;
        }
        self.calls += 1;
        self.memory.shows(spec, self.target)
    }
}

pub(super) fn with_plan(spec: &RunSpec, plan: &FaultPlan) -> RunSpec {
    RunSpec { plan: plan.clone(), ..spec.clone() }
}

pub(super) fn with_scenario(spec: &RunSpec, change: impl FnOnce(&mut Scenario)) -> RunSpec {
    let mut scenario = (*spec.scenario).clone();
    change(&mut scenario);
    RunSpec { scenario: Rc::new(scenario), ..spec.clone() }
}
