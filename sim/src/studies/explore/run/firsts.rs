//! Divides the work into units, by placing the first fault or delay in every base run.

use super::ledger::{Slice, Units};
use super::survey::Survey;
use super::work::{Exploration, FailedPlan, own};
use crate::run::parallel::in_parallel;
use crate::studies::explore::plan::level::{Added, Level, up_to};
use crate::studies::explore::plan::order::order;
use crate::studies::explore::plan::place::{Placed, Planned};
use crate::studies::explore::plan::rule::Rule;
use crate::studies::explore::plan::scout::Scout;
use crate::studies::explore::plan::site::Site;
use crate::studies::sweep::Stop;
use fencepost_faults::FaultPlan;
use fencepost_reports::summary::sweep::Shard;
use std::collections::BTreeSet;

impl Exploration<'_> {
    /// Places the first faults and delays. Does nothing if plans have at most one fault or delay.
    /// After a stop, some places may be missing.
    pub fn place_all(&mut self, stop: &Stop) -> Result<(), FailedPlan> {
        if self.bounds.most().depth() < 2 {
            return Ok(());
        }
        for (kind, _) in self.bounds.most().kinds() {
            let numbers: Vec<usize> = (0..self.units_of(kind)).collect();
            let work = &*self;
            let placed = in_parallel(work.jobs, &numbers, |number| {
                if stop.is_asked() {
                    return Ok((0, Placed::default()));
                }
                work.place_first(kind, *number)
            });
            self.firsts[kind as usize] = placed.into_iter().collect::<Result<_, _>>()?;
        }
        self.find_dead_ends(stop)?;
        self.has_all_firsts = !stop.is_asked();
        Ok(())
    }

    pub fn place_for(&mut self, parts: &[Slice], stop: &Stop) -> Result<(), FailedPlan> {
        match parts.iter().any(|part| part.level.depth() > 1) {
            true => self.place_all(stop),
            false => Ok(()),
        }
    }

    pub(crate) fn place_first(
        &self,
        kind: Added,
        number: usize,
    ) -> Result<(usize, Placed), FailedPlan> {
        let sites = self.sites(kind);
        let (base, site) = (number / sites.len(), &sites[number % sites.len()]);
        let placed = self.place(base, &FaultPlan::default(), self.calm(base)?, site)?;
        Ok((base, placed))
    }

    fn units_of(&self, kind: Added) -> usize {
        self.bases.len() * self.sites(kind).len()
    }

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
            let scout = self.calm(base)?;
            let mut placed: Vec<&mut Placed> = of_base.iter_mut().map(|one| &mut one.1).collect();
            self.end_same_orders(base, &calm, scout, &mut placed, self.jobs)?;
        }
        self.firsts[Added::Delay as usize] = delays;
        Ok(())
    }

    pub(crate) fn end_same_orders(
        &self,
        base: usize,
        prefix: &FaultPlan,
        scout: &Scout,
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

    pub(crate) fn sites(&self, kind: Added) -> &[Site] {
        &self.sites[kind as usize]
    }

    /// Estimates the number of a shard's runs. For plans with at most one fault or delay, the
    /// number is exact once all first faults and delays are placed.
    pub fn counted(&self, survey: &Survey, shard: Shard) -> Survey {
        let mut runs = [0_u128; 4];
        for (level, units) in self.units() {
            let own = own(shard, units);
            let firsts =
                Added::ALL.into_iter().find(|kind| level.without(*kind) == Some(Level::default()));
            runs[level.depth()] += match (level.depth(), firsts) {
                (0, _) => own.len() as u128,
                (1, Some(kind)) if self.has_all_firsts => {
                    let placed = &self.firsts[kind as usize][own];
                    placed.iter().map(|(_, placed)| placed.plans.len() as u128).sum()
                }
                (1, _) => survey.runs[1].saturating_mul(own.len() as u128) / units.max(1) as u128,
                _ => 0,
            };
        }
        for deep in 2..runs.len() {
            let share = survey.runs[deep].saturating_mul(runs[1]);
            runs[deep] = share / survey.runs[1].max(1);
        }
        Survey { runs, ..*survey }
    }

    pub fn units(&self) -> Units {
        let count = |level: Level| match level.depth() {
            0 => self.bases.len(),
            1 => level.kinds().map(|(kind, _)| self.units_of(kind)).sum(),
            _ => level.kinds().map(|(kind, _)| self.roots(kind)).sum(),
        };
        up_to(self.bounds.most()).into_iter().map(|level| (level, count(level))).collect()
    }

    pub fn plans(&self) -> impl Iterator<Item = Result<Planned, FailedPlan>> + '_ {
        let calm = |base| Planned { base, level: Level::default(), plan: FaultPlan::default() };
        let of_unit = |kind: Added, number: usize| {
            let level = Level::default().with(kind);
            let (base, placed) = match self.place_first(kind, number) {
                Ok(placed) => placed,
                Err(failed) => return vec![Err(failed)],
            };
            let plans = placed.plans.into_iter();
            plans.map(|plan| Ok(Planned { base, level, plan })).collect()
        };
        let with_one = self.bounds.most().kinds().flat_map(move |(kind, _)| {
            (0..self.units_of(kind)).flat_map(move |number| of_unit(kind, number))
        });
        (0..self.bases.len()).map(calm).map(Ok).chain(with_one)
    }

    fn roots(&self, kind: Added) -> usize {
        let placed = self.firsts[kind as usize].iter();
        placed.map(|(_, placed)| placed.count_roots()).sum()
    }

    #[cfg(test)]
    pub(crate) fn roots_of(&self, kind: Added) -> impl Iterator<Item = (usize, &FaultPlan)> {
        let placed = self.firsts[kind as usize].iter();
        placed.flat_map(|(base, placed)| placed.roots().map(|plan| (*base, plan)))
    }

    pub(crate) fn root(&self, level: Level, number: usize) -> (usize, &FaultPlan, Level) {
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
