//! Estimates the work of an exploration from a sample of its plans.

use super::trial::trial;
use super::work::{Exploration, FailedPlan};
use crate::run::parallel::in_parallel;
use crate::studies::explore::plan::level::{Added, Level};
use crate::studies::explore::plan::place::{Placed, Planned};
use crate::studies::explore::plan::rule::Rule;
use crate::studies::sweep::{Stop, ThreadClock};
use fencepost_faults::{FaultPlan, TimedFault};

const BASES: usize = 4;
const FIRSTS: usize = 16;
const SITES: usize = 64;
const PLACES: usize = 4;
const ORDERS: usize = 512;
/// Processor time, in microseconds, after which no further site of a sampled plan is tried.
const SAMPLE_US_MAX: u64 = 250_000;
const TRIALS: usize = 32;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Survey {
    /// Estimated number of runs, indexed by the total number of faults and delays in the plan.
    pub runs: [u128; 4],
    /// Estimated number of plans in memory: those with one fault or delay, if they are extended.
    pub kept: u128,
    /// Mean processor time of a run and its placement, in microseconds; `None` if unknown.
    pub run_us: Option<u64>,
}

struct Found {
    runs: [u128; 4],
    deepest: Sample,
}

struct Sample {
    plans: Vec<Planned>,
    about: u128,
    alike: usize,
    placing_us: Option<u64>,
}

impl Default for Sample {
    fn default() -> Sample {
        Sample { plans: Vec::new(), about: 0, alike: 0, placing_us: Some(0) }
    }
}

impl Sample {
    fn absorb(&mut self, other: Sample) {
        self.plans.extend(other.plans);
        self.about = self.about.saturating_add(other.about);
        self.alike += other.alike;
        self.placing_us = self.placing_us.zip(other.placing_us).map(|(one, other)| one + other);
    }
}

impl Survey {
    /// Returns the share of one of `count` shards. Does not divide `kept`, because each shard keeps
    /// all first faults in memory.
    pub fn of_shards(self, count: u32) -> Survey {
        let share = |runs: u128| runs.div_ceil(u128::from(count.max(1)));
        Survey { runs: self.runs.map(share), ..self }
    }

    pub fn all_runs(&self) -> u128 {
        self.runs.iter().fold(0, |sum, runs| sum.saturating_add(*runs))
    }

    pub fn bytes(&self) -> u128 {
        let plan = size_of::<(usize, FaultPlan)>() + size_of::<TimedFault>();
        self.kept.saturating_mul(plan as u128)
    }
}

impl Exploration<'_> {
    pub fn survey(&self, stop: &Stop) -> Result<Survey, FailedPlan> {
        let calm = |base| Planned { base, level: Level::default(), plan: FaultPlan::default() };
        let bases: Vec<Planned> = spread(self.bases.len(), BASES).map(calm).collect();
        let all = self.bases.len() as u128;
        let mut found = Found { runs: [all, 0, 0, 0], deepest: Sample::default() };
        match self.bounds.most().depth() {
            0 => found.deepest.plans = bases,
            _ => self.survey_level(bases, all, self.bounds.most(), &mut found, stop)?,
        }
        let Found { runs, deepest } = found;
        let placed = deepest.plans.len().max(1) as u64;
        let placing = deepest.placing_us.map_or(0, |us| us / placed);
        let run_us = self.time(&deepest.plans, stop)?.map(|us| us + placing);
        let kept = if self.bounds.most().depth() < 2 { 0 } else { runs[1] };
        Ok(Survey { runs, kept, run_us })
    }

    fn survey_level(
        &self,
        prefixes: Vec<Planned>,
        count: u128,
        left: Level,
        found: &mut Found,
        stop: &Stop,
    ) -> Result<(), FailedPlan> {
        for (kind, rest) in left.kinds() {
            let depth = self.bounds.most().depth() - rest.depth();
            let chosen = spread(prefixes.len(), if depth == 1 { BASES } else { FIRSTS });
            let chosen: Vec<Planned> = chosen.map(|place| prefixes[place].clone()).collect();
            let sample = self.sample(kind, &chosen, stop)?;
            let about = count.saturating_mul(sample.about) / chosen.len().max(1) as u128;
            found.runs[depth] = found.runs[depth].saturating_add(about);
            if rest.depth() == 0 {
                found.deepest.absorb(sample);
                continue;
            }
            let about = match kind {
                Added::Delay => self.estimate_roots(about, stop)?,
                Added::Fault => {
                    let of = sample.plans.len().max(1) as u128;
                    about.saturating_mul(of + sample.alike as u128) / of
                }
            };
            self.survey_level(sample.plans, about, rest, found, stop)?;
        }
        Ok(())
    }

    fn estimate_roots(&self, about: u128, stop: &Stop) -> Result<u128, FailedPlan> {
        if !self.bounds.rules.contains(&Rule::Order) {
            return Ok(about);
        }
        let (base, calm) = (0, FaultPlan::default());
        let scout = self.scout(base, &calm)?;
        let (mut placed, mut left) = (Vec::new(), ORDERS);
        for site in self.sites(Added::Delay) {
            if stop.is_asked() {
                break;
            }
            let mut one = self.place(base, &calm, &scout, site)?;
            one.plans.truncate(left);
            left -= one.plans.len();
            placed.push(one);
        }
        let mut all: Vec<&mut Placed> = placed.iter_mut().collect();
        self.end_same_orders(base, &calm, &scout, &mut all, self.jobs)?;
        let roots = placed.iter().map(|one| one.roots().count() as u128).sum::<u128>();
        let plans = placed.iter().map(|one| one.plans.len() as u128).sum::<u128>();
        Ok(about.saturating_mul(roots) / plans.max(1))
    }

    fn sample(&self, kind: Added, prefixes: &[Planned], stop: &Stop) -> Result<Sample, FailedPlan> {
        let all = self.sites(kind).len();
        let most = (SITES / prefixes.len().max(1)).max(1);
        let numbers: Vec<usize> = (0..prefixes.len()).collect();
        let samples = in_parallel(self.jobs, &numbers, |number| {
            let prefix = &prefixes[*number];
            let first = number * all / prefixes.len();
            let sites = spread(all, most).map(|place| (first + place) % all).collect::<Vec<_>>();
            self.sample_of(prefix, kind, &sites, stop)
        });
        let mut sum = Sample::default();
        for sample in samples {
            sum.absorb(sample?);
        }
        Ok(sum)
    }

    fn sample_of(
        &self,
        prefix: &Planned,
        kind: Added,
        sites: &[usize],
        stop: &Stop,
    ) -> Result<Sample, FailedPlan> {
        let scout = self.scout(prefix.base, &prefix.plan)?;
        let clock = ThreadClock::start();
        let mut sample = Sample::default();
        let mut looked_at = 0;
        for site in sites {
            let is_enough = clock.micros().is_some_and(|us| us > SAMPLE_US_MAX);
            if stop.is_asked() || (is_enough && looked_at > 0) {
                break;
            }
            looked_at += 1;
            let origin = self.origin(prefix.base, &prefix.plan, &scout);
            let failed = |error| FailedPlan { planned: prefix.clone(), error };
            let (about, placed) =
                origin.sample(&self.sites(kind)[*site], PLACES).map_err(failed)?;
            sample.about += about;
            sample.alike += placed.alike.len();
            let plans = placed.plans;
            let base = prefix.base;
            let level = prefix.level.with(kind);
            sample.plans.extend(plans.into_iter().map(|plan| Planned { base, level, plan }));
        }
        sample.about = sample.about * self.sites(kind).len() as u128 / looked_at.max(1);
        Ok(Sample { placing_us: clock.micros(), ..sample })
    }

    fn time(&self, plans: &[Planned], stop: &Stop) -> Result<Option<u64>, FailedPlan> {
        let chosen: Vec<usize> = spread(plans.len(), TRIALS).collect();
        let times = in_parallel(self.jobs, &chosen, |place| {
            let planned = &plans[*place];
            let clock = ThreadClock::start();
            if !stop.is_asked() {
                trial(self.bounds, &self.bases[planned.base], &planned.plan)
                    .map_err(|error| FailedPlan { planned: planned.clone(), error })?;
            }
            Ok(clock.micros())
        });
        let sum = times.into_iter().sum::<Result<Option<u64>, FailedPlan>>();
        Ok(sum?.map(|us| us / chosen.len().max(1) as u64))
    }
}

fn spread(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let few = count.min(most);
    (0..few).map(move |place| place * count / few)
}
