use super::base::Base;
use super::bounds::{Bounds, Grain};
use super::level::Level;
use super::magnitude::{between_timers, ends, steps};
use super::order::{delays, links};
use super::prune::Pruned;
use super::prune::is_idle;
use super::rule::Rule;
use super::scout::{Scout, scout};
use super::site::{Measure, Site, sites};
use crate::engine::EngineError;
use crate::hosts::coordinators::entry;
use crate::run::InvalidRun;
use fencepost_faults::{Family, Fault, FaultPlan, SimTime, TimedFault};
use std::collections::BTreeSet;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// Index of the base run, from 0.
    pub base: usize,
    pub level: Level,
    pub plan: FaultPlan,
}

#[derive(Default)]
pub(crate) struct Placed {
    pub(crate) plans: Vec<FaultPlan>,
    /// Plans like one in `plans`, except that the last partition ends later. The runs are the same,
    /// but may differ once another fault is added.
    pub(crate) alike: Vec<FaultPlan>,
    pub(crate) dead_ends: BTreeSet<usize>,
    pub(crate) pruned: Pruned,
}

impl Placed {
    pub(crate) fn candidates(&self) -> impl Iterator<Item = &FaultPlan> {
        self.plans.iter().chain(&self.alike)
    }

    pub(crate) fn count_roots(&self) -> usize {
        self.plans.len() + self.alike.len() - self.dead_ends.len()
    }

    pub(crate) fn roots(&self) -> impl Iterator<Item = &FaultPlan> {
        let plans = self.candidates().enumerate();
        plans.filter(|(number, _)| !self.dead_ends.contains(number)).map(|(_, plan)| plan)
    }
}

#[derive(Default)]
struct Choices {
    faults: Vec<Fault>,
    alike: Vec<Fault>,
}

pub(crate) fn all_sites(bounds: &Bounds) -> Vec<Site> {
    bounds.families.chosen().flat_map(|family| sites_of(bounds, family)).collect()
}

pub(crate) fn sites_of(bounds: &Bounds, family: Family) -> Vec<Site> {
    let scenario = &bounds.scenario;
    let setting = scenario.setting(scenario.topology(bounds.client, &bounds.families));
    let unsupported_faults = entry(bounds.client.deployment.coordinator()).unsupported_faults;
    let answers = |site: &Site| match site.measure(scenario, bounds.longest.0) {
        Measure::Fixed(faults) => {
            faults.iter().all(|fault| !unsupported_faults.contains(&fault.kind()))
        }
        Measure::Ends | Measure::Steps | Measure::Orders => true,
    };
    sites(family, &setting).into_iter().filter(answers).collect()
}

pub(crate) fn order_sites(bounds: &Bounds) -> Vec<Site> {
    let scenario = &bounds.scenario;
    let setting = scenario.setting(scenario.topology(bounds.client, &bounds.families));
    links(&setting).into_iter().map(|(from, to)| Site::Overtaken { from, to }).collect()
}

pub(crate) struct Origin<'g> {
    pub(crate) bounds: &'g Bounds,
    pub(crate) base: &'g Base,
    pub(crate) prefix: &'g FaultPlan,
    pub(crate) scout: &'g Scout,
}

impl Origin<'_> {
    pub(crate) fn place(&self, site: &Site) -> Result<Placed, EngineError> {
        let mut placed = Placed::default();
        for at in self.places(site, &mut placed.pruned) {
            self.place_at(site, at, &mut placed)?;
        }
        Ok(placed)
    }

    pub(crate) fn sample(&self, site: &Site, most: usize) -> Result<(u128, Placed), EngineError> {
        let mut placed = Placed::default();
        let places = self.places(site, &mut placed.pruned);
        let chosen = places.iter().step_by(places.len().div_ceil(most).max(1));
        let few = chosen.len().max(1) as u128;
        for at in chosen {
            self.place_at(site, *at, &mut placed)?;
        }
        Ok((placed.plans.len() as u128 * places.len() as u128 / few, placed))
    }

    fn place_at(&self, site: &Site, at: SimTime, placed: &mut Placed) -> Result<(), EngineError> {
        let Choices { faults, alike } = self.choices(site, at)?;
        let timed = |fault| TimedFault { id: self.next_id(), at_us: at, fault };
        for fault in faults {
            self.add(timed(fault), placed);
        }
        for timed in alike.into_iter().map(timed) {
            if !self.is_left_out(&timed) {
                placed.alike.extend(self.possible(timed));
            }
        }
        Ok(())
    }

    fn places(&self, site: &Site, pruned: &mut Pruned) -> Vec<SimTime> {
        let all = boundaries(self.bounds, self.prefix, self.scout);
        let is_order = matches!(site, Site::Overtaken { .. });
        let has_gaps = is_order || self.bounds.rules.contains(&Rule::Gap);
        let Some(met) = site.event_times(self.scout).filter(|_| has_gaps) else {
            return all.into_iter().collect();
        };
        let mut kept: Vec<SimTime> = met.into_iter().filter(|at| all.contains(at)).collect();
        kept.dedup();
        if !is_order {
            pruned.places_in_gaps += (all.len() - kept.len()) as u64;
        }
        kept
    }

    fn choices(&self, site: &Site, at: SimTime) -> Result<Choices, EngineError> {
        let (bounds, quantum) = (self.bounds, self.bounds.scenario.timing.quantum.0);
        let faults = match site.measure(&bounds.scenario, bounds.longest.0) {
            Measure::Fixed(faults) => faults,
            Measure::Steps => {
                let steps = steps(bounds, at, self.scout).into_iter();
                steps.flat_map(|to| site.fault_steps(to.since(at))).collect()
            }
            Measure::Orders => {
                let Site::Overtaken { from, to } = *site else { return Ok(Choices::default()) };
                let delays = delays(bounds, self.base, ((from, to), at), self.scout).into_iter();
                delays.filter_map(|span| site.fault_of_length(span, quantum)).collect()
            }
            Measure::Ends => return self.lengths(site, at),
        };
        Ok(Choices { faults, alike: Vec::new() })
    }

    fn lengths(&self, site: &Site, at: SimTime) -> Result<Choices, EngineError> {
        let (bounds, quantum) = (self.bounds, self.bounds.scenario.timing.quantum.0);
        let until = |end: SimTime| site.fault_of_length(end.since(at), quantum);
        let Some(longest) = site.fault_of_length(bounds.longest.0, quantum) else {
            return Ok(Choices::default());
        };
        let links = longest.links();
        let longest = self.with(TimedFault { id: self.next_id(), at_us: at, fault: longest });
        let seen = scout(bounds, self.base, &longest)?;
        if matches!(site, Site::Cut { .. }) && bounds.rules.contains(&Rule::Gap) {
            let spans = between_timers(bounds, at, seen.held_up_on(&links));
            let is_added_to = self.prefix.faults.len() + 1 < bounds.most().depth();
            let is_twice = is_added_to && bounds.grain == Grain::Fine;
            let alike = spans.iter().filter(|(earliest, latest)| is_twice && earliest < latest);
            let alike = alike.filter_map(|(_, latest)| until(*latest)).collect();
            let faults = spans.iter().filter_map(|(earliest, _)| until(*earliest)).collect();
            return Ok(Choices { faults, alike });
        }
        let ends = ends(bounds, at, &seen).into_iter();
        let faults = ends.filter_map(until).chain(site.permanent_fault()).collect();
        Ok(Choices { faults, alike: Vec::new() })
    }

    fn add(&self, timed: TimedFault, placed: &mut Placed) {
        if self.is_left_out(&timed) {
            placed.pruned.idle += 1;
            return;
        }
        match self.possible(timed) {
            Some(plan) => placed.plans.push(plan),
            None => placed.pruned.colliding += 1,
        }
    }

    fn is_left_out(&self, timed: &TimedFault) -> bool {
        self.bounds.rules.contains(&Rule::Idle) && is_idle(timed, self.scout)
    }

    fn possible(&self, timed: TimedFault) -> Option<FaultPlan> {
        let plan = self.with(timed);
        let is_possible = self.bounds.spec(self.base, plan.clone()).validate();
        (!matches!(is_possible, Err(InvalidRun::Collision { .. }))).then_some(plan)
    }

    fn with(&self, timed: TimedFault) -> FaultPlan {
        let mut faults = self.prefix.faults.clone();
        faults.push(timed);
        FaultPlan::new(faults)
    }

    fn next_id(&self) -> u32 {
        self.prefix.faults.len() as u32 + 1
    }
}

pub(crate) fn boundaries(bounds: &Bounds, prefix: &FaultPlan, scout: &Scout) -> BTreeSet<SimTime> {
    let quantum = bounds.scenario.timing.quantum.0;
    let first = prefix.faults.iter().map(|timed| timed.at_us).max().unwrap_or(SimTime::ZERO);
    let around = scout.turns.iter().flat_map(|(at, _)| [*at, *at + quantum]);
    around.filter(|at| *at >= first).collect()
}
