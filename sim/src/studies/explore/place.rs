//! From a run to the plans that add one fault to it.

use super::base::Base;
use super::bounds::Bounds;
use super::level::Level;
use super::magnitude::{ends, steps};
use super::order::{delays, links};
use super::prune::{Rule, is_idle};
use super::scout::{Scout, scout};
use super::site::{Measure, Site, sites};
use super::sum::Pruned;
use crate::engine::EngineError;
use crate::hosts::coordinators::entry;
use crate::run::InvalidRun;
use fencepost_faults::{Fault, FaultPlan, Micros, SimTime, TimedFault};
use std::collections::BTreeSet;

/// A plan, and the number of the base run whose conditions it runs under.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// Counted from 0.
    pub base: usize,
    /// How much it holds.
    pub level: Level,
    /// What goes wrong.
    pub plan: FaultPlan,
}

/// The plans that add one fault, and what was left out.
#[derive(Default)]
pub(super) struct Placed {
    pub(super) plans: Vec<FaultPlan>,
    /// The numbers of those to which nothing is added.
    pub(super) dead_ends: BTreeSet<usize>,
    pub(super) pruned: Pruned,
}

impl Placed {
    /// The plans to which something is added.
    pub(super) fn roots(&self) -> impl Iterator<Item = &FaultPlan> {
        let plans = self.plans.iter().enumerate();
        plans.filter(|(number, _)| !self.dead_ends.contains(number)).map(|(_, plan)| plan)
    }
}

/// Every site of the bounds.
pub(super) fn all_sites(bounds: &Bounds) -> Vec<Site> {
    let scenario = &bounds.scenario;
    let setting = scenario.setting(scenario.topology(bounds.client, &bounds.families));
    let unanswered = entry(bounds.client.deployment.coordinator()).unanswered;
    let answers = |site: &Site| match site.measure(scenario, bounds.longest.0) {
        Measure::Fixed(faults) => faults.iter().all(|fault| !unanswered.contains(&fault.kind())),
        Measure::Ends | Measure::Steps | Measure::Orders => true,
    };
    bounds.families.chosen().flat_map(|family| sites(family, &setting)).filter(answers).collect()
}

/// Every direction of a link on which messages are delayed.
pub(super) fn order_sites(bounds: &Bounds) -> Vec<Site> {
    let scenario = &bounds.scenario;
    let setting = scenario.setting(scenario.topology(bounds.client, &bounds.families));
    links(&setting).into_iter().map(|(from, to)| Site::Overtaken { from, to }).collect()
}

/// What plans are added to: a plan with its run.
pub(super) struct Ground<'g> {
    pub(super) bounds: &'g Bounds,
    pub(super) base: &'g Base,
    pub(super) prefix: &'g FaultPlan,
    pub(super) scout: &'g Scout,
}

impl Ground<'_> {
    /// Every plan that adds a fault at this site, which does not begin before the faults that there
    /// are.
    pub(super) fn place(&self, site: &Site) -> Result<Placed, EngineError> {
        let mut placed = Placed::default();
        for at in self.places(site, &mut placed.pruned) {
            self.place_at(site, at, &mut placed)?;
        }
        Ok(placed)
    }

    /// About how many plans add a fault at this site, judged by at most so many of its places, and
    /// those plans.
    pub(super) fn sample(
        &self,
        site: &Site,
        most: usize,
    ) -> Result<(u128, Vec<FaultPlan>), EngineError> {
        let mut placed = Placed::default();
        let places = self.places(site, &mut placed.pruned);
        let chosen = places.iter().step_by(places.len().div_ceil(most).max(1));
        let few = chosen.len().max(1) as u128;
        for at in chosen {
            self.place_at(site, *at, &mut placed)?;
        }
        Ok((placed.plans.len() as u128 * places.len() as u128 / few, placed.plans))
    }

    fn place_at(&self, site: &Site, at: SimTime, placed: &mut Placed) -> Result<(), EngineError> {
        for fault in self.faults(site, at)? {
            self.add(TimedFault { id: self.next_id(), at_us: at, fault }, placed);
        }
        Ok(())
    }

    /// When a fault begins: just before and just after every event.
    fn places(&self, site: &Site, pruned: &mut Pruned) -> Vec<SimTime> {
        let all = boundaries(self.bounds, self.prefix, self.scout);
        // Only what is sent can be late.
        let is_order = matches!(site, Site::Overtaken { .. });
        let has_gaps = is_order || self.bounds.rules.contains(&Rule::Gap);
        let Some(met) = site.met(self.scout).filter(|_| has_gaps) else {
            return all.into_iter().collect();
        };
        // Of all places before one event of what is hit, the last.
        let mut kept: Vec<SimTime> = met.into_iter().filter(|at| all.contains(at)).collect();
        kept.dedup();
        if !is_order {
            pruned.places_in_gaps += (all.len() - kept.len()) as u64;
        }
        kept
    }

    /// The faults that may begin at an instant.
    fn faults(&self, site: &Site, at: SimTime) -> Result<Vec<Fault>, EngineError> {
        let (bounds, quantum) = (self.bounds, self.bounds.scenario.quantum.0);
        match site.measure(&bounds.scenario, bounds.longest.0) {
            Measure::Fixed(faults) => Ok(faults),
            Measure::Steps => {
                let steps = steps(bounds, at, self.scout).into_iter();
                Ok(steps.flat_map(|to| site.stepping(to.since(at))).collect())
            }
            Measure::Orders => {
                let Site::Overtaken { from, to } = *site else { return Ok(Vec::new()) };
                let delays = delays(bounds, self.base, ((from, to), at), self.scout).into_iter();
                Ok(delays.filter_map(|span| site.lasting(span, quantum)).collect())
            }
            Measure::Ends => {
                let lasting = |span: Micros| site.lasting(span, quantum);
                let Some(longest) = lasting(bounds.longest.0) else { return Ok(Vec::new()) };
                let longest =
                    self.with(TimedFault { id: self.next_id(), at_us: at, fault: longest });
                let seen = scout(bounds, self.base, &longest)?;
                let ends = ends(bounds, at, &seen).into_iter();
                Ok(ends.filter_map(|end| lasting(end.since(at))).chain(site.for_good()).collect())
            }
        }
    }

    /// Adds the plan with this fault too, unless a rule leaves it out or it cannot be.
    fn add(&self, timed: TimedFault, placed: &mut Placed) {
        if self.bounds.rules.contains(&Rule::Idle) && is_idle(&timed, self.scout) {
            placed.pruned.idle += 1;
            return;
        }
        let plan = self.with(timed);
        match self.bounds.spec(self.base, plan.clone()).validate() {
            Err(InvalidRun::Collision { .. }) => placed.pruned.colliding += 1,
            _ => placed.plans.push(plan),
        }
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

/// The instant of every turn, and one quantum later; none before the last fault that there is.
pub(super) fn boundaries(bounds: &Bounds, prefix: &FaultPlan, scout: &Scout) -> BTreeSet<SimTime> {
    let quantum = bounds.scenario.quantum.0;
    let first = prefix.faults.iter().map(|timed| timed.at_us).max().unwrap_or(SimTime::ZERO);
    let around = scout.turns.iter().flat_map(|(at, _)| [*at, *at + quantum]);
    around.filter(|at| *at >= first).collect()
}
