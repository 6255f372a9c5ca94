//! What is added first to every base run: placed before anything is run, so that the work can be
//! cut into units. To plans of the same order of messages nothing more is added but once.

use super::ledger::{Slice, Units};
use super::level::{Added, Level, up_to};
use super::order::order;
use super::place::{Placed, Planned};
use super::prune::Rule;
use super::scout::Scout;
use super::site::Site;
use super::survey::Survey;
use super::work::{Exploration, FailedPlan, own};
use crate::studies::parallel::in_parallel;
use crate::studies::sweep::Stop;
use fencepost_faults::FaultPlan;
use fencepost_reports::summary::sweep::Shard;
use std::collections::BTreeSet;
use std::ops::Range;

impl Exploration<'_> {
    /// Places the first faults and delays, those of other shards too where others are placed after
    /// them; not all of them if it is stopped.
    pub fn place_all(&mut self, shard: Shard, stop: &Stop) -> Result<(), FailedPlan> {
        for (kind, rest) in self.bounds.most().kinds() {
            let units = self.bases.len() * self.sites(kind).len();
            let needed = if rest.depth() == 0 { own(shard, units) } else { 0..units };
            self.place_units(kind, std::slice::from_ref(&needed), stop)?;
        }
        self.find_dead_ends(stop)?;
        self.has_all_firsts = true;
        Ok(())
    }

    /// Places the first faults and delays that these parts of the work want: all of them if
    /// something is placed after them.
    pub fn place_for(&mut self, parts: &[Slice], stop: &Stop) -> Result<(), FailedPlan> {
        if parts.iter().any(|part| part.level.depth() > 1) {
            return self.place_all(Shard::WHOLE, stop);
        }
        for (kind, _) in self.bounds.most().kinds() {
            let is_own = |part: &&Slice| part.level.without(kind) == Some(Level::default());
            let own = parts.iter().filter(is_own).map(|part| part.units.clone());
            self.place_units(kind, &own.collect::<Vec<_>>(), stop)?;
        }
        Ok(())
    }

    /// Places these first faults, or delays.
    fn place_units(
        &mut self,
        kind: Added,
        needed: &[Range<usize>],
        stop: &Stop,
    ) -> Result<(), FailedPlan> {
        let is_needed = |unit: usize| needed.iter().any(|range| range.contains(&unit));
        let work = &*self;
        let numbers: Vec<usize> = (0..work.bases.len()).collect();
        let calm = FaultPlan::default();
        let scouts = in_parallel(work.jobs, &numbers, |base| work.scout(*base, &calm));
        let scouts = scouts.into_iter().collect::<Result<Vec<Scout>, _>>()?;
        let of = |base: &usize| work.sites(kind).iter().map(|site| (*base, site)).collect();
        let units: Vec<(usize, &Site)> =
            numbers.iter().flat_map(|base| -> Vec<_> { of(base) }).collect();
        let numbers: Vec<usize> = (0..units.len()).collect();
        let placed = in_parallel(work.jobs, &numbers, |number| {
            let (base, site) = units[*number];
            if stop.is_asked() || !is_needed(*number) {
                return Ok((base, Placed::default()));
            }
            Ok((base, work.place(base, &calm, &scouts[base], site)?))
        });
        self.firsts[kind as usize] = placed.into_iter().collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Finds the first delays to which nothing is to be added.
    fn find_dead_ends(&mut self, stop: &Stop) -> Result<(), FailedPlan> {
        if self.bounds.most().depth() < 2 || !self.bounds.rules.contains(&Rule::Order) {
            return Ok(());
        }
        let mut delays = std::mem::take(&mut self.firsts[Added::Delay as usize]);
        let calm = FaultPlan::default();
        for of_base in delays.chunk_by_mut(|one, other| one.0 == other.0) {
            if stop.is_asked() {
                break;
            }
            let Some(base) = of_base.first().map(|first| first.0) else { continue };
            let scout = self.scout(base, &calm)?;
            let mut placed: Vec<&mut Placed> = of_base.iter_mut().map(|one| &mut one.1).collect();
            self.end_same_orders((base, &calm, &scout), &mut placed, self.jobs)?;
        }
        self.firsts[Added::Delay as usize] = delays;
        Ok(())
    }

    /// Of plans that add a delay to this one, marks those whose order of messages is that of the
    /// plan without it, or of one before.
    pub(super) fn end_same_orders(
        &self,
        (base, prefix, scout): (usize, &FaultPlan, &Scout),
        placed: &mut [&mut Placed],
        jobs: usize,
    ) -> Result<(), FailedPlan> {
        let mut seen = BTreeSet::from([order(prefix, scout)]);
        for one in placed {
            let orders =
                in_parallel(jobs, &one.plans, |plan| Ok(order(prefix, &self.scout(base, plan)?)));
            for (number, found) in orders.into_iter().enumerate() {
                if !seen.insert(found?) {
                    one.dead_ends.insert(number);
                    one.pruned.same_order += 1;
                }
            }
        }
        Ok(())
    }

    /// What can be added of a kind.
    pub(super) fn sites(&self, kind: Added) -> &[Site] {
        &self.sites[kind as usize]
    }

    /// How many runs a shard takes, now that what is added first is placed.
    pub fn counted(&self, survey: &Survey, shard: Shard) -> Survey {
        let mut runs = [0_u128; 4];
        for (level, units) in self.units() {
            let units = own(shard, units);
            let firsts =
                Added::ALL.into_iter().find(|kind| level.without(*kind) == Some(Level::default()));
            runs[level.depth()] += match (level.depth(), firsts) {
                (0, _) => units.len() as u128,
                (1, Some(kind)) => {
                    let placed = &self.firsts[kind as usize][units];
                    placed.iter().map(|(_, placed)| placed.plans.len() as u128).sum()
                }
                _ => 0,
            };
        }
        for deep in 2..runs.len() {
            let share = survey.runs[deep].saturating_mul(runs[1]);
            runs[deep] = share / survey.runs[1].max(1);
        }
        Survey { runs, ..*survey }
    }

    /// How many units there are, level by level.
    pub fn units(&self) -> Units {
        let count = |level: Level| match level.depth() {
            0 => self.bases.len(),
            1 => level.kinds().map(|(kind, _)| self.firsts[kind as usize].len()).sum(),
            _ => level.kinds().map(|(kind, _)| self.roots(kind)).sum(),
        };
        up_to(self.bounds.most()).into_iter().map(|level| (level, count(level))).collect()
    }

    /// The plans with at most one fault or late message, in the order in which they are run.
    pub fn plans(&self) -> impl Iterator<Item = Planned> + '_ {
        let calm = |base| Planned { base, level: Level::default(), plan: FaultPlan::default() };
        let with_one = |kind: Added| {
            let level = Level::default().with(kind);
            let placed = self.firsts[kind as usize].iter();
            placed.flat_map(move |(base, placed)| {
                let of = move |plan: &FaultPlan| Planned { base: *base, level, plan: plan.clone() };
                placed.plans.iter().map(of)
            })
        };
        (0..self.bases.len()).map(calm).chain(Added::ALL.into_iter().flat_map(with_one))
    }

    /// How many plans of a kind something is added to.
    fn roots(&self, kind: Added) -> usize {
        let placed = self.firsts[kind as usize].iter();
        placed.map(|(_, placed)| placed.count_roots()).sum()
    }

    /// The plans of a kind that something is added to, and the base run of each.
    #[cfg(test)]
    pub(super) fn roots_of(&self, kind: Added) -> impl Iterator<Item = (usize, &FaultPlan)> {
        let placed = self.firsts[kind as usize].iter();
        placed.flat_map(|(base, placed)| placed.roots().map(|plan| (*base, plan)))
    }

    /// The plan of that number to which something is added to come to this level: its base run, and
    /// what is left to add.
    pub(super) fn root(&self, level: Level, number: usize) -> (usize, &FaultPlan, Level) {
        let mut left = number;
        for (kind, rest) in level.kinds() {
            for (base, placed) in &self.firsts[kind as usize] {
                let roots = placed.count_roots();
                match placed.roots().nth(left) {
                    Some(plan) => return (*base, plan, rest),
                    None => left -= roots,
                }
            }
        }
        panic!("there are fewer than {number} plans to add to")
    }
}
