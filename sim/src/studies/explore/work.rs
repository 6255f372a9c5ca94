//! All plans of the bounds, over threads: those with fewer faults first.
//!
//! The work is cut into units, in an order that does not depend on the threads: of plans without a
//! fault each base run, of those with one each site of each base run, of those with two each first
//! fault. Threads take units chunk by chunk; of a chunk the first unit that found something speaks.

use super::base::{Base, bases};
use super::bounds::Bounds;
use super::place::{Ground, Placed, Planned, all_sites};
use super::scout::{Scout, scout};
use super::site::Site;
use super::sum::Sum;
use super::trial::trial;
use crate::engine::EngineError;
use crate::run::RunSpec;
use crate::studies::parallel::in_parallel;
use crate::studies::sweep::Stop;
use fencepost_faults::FaultPlan;
use fencepost_reports::{Verdict, sha256};
use std::ops::Range;

/// How many units are taken at a time: a violation ends the work after at most so many.
const CHUNK: usize = 64;
/// How many slices the plans with so many faults are cut into at most.
const SLICES: [usize; 3] = [1, 32, 64];

/// Who hears of the runs as they are made. Called from any thread.
pub trait Progress: Sync {
    /// A run is done.
    fn run_done(&self, is_violated: bool);
}

/// The plans of some bounds, ready to be run.
pub struct Exploration<'b> {
    pub(super) bounds: &'b Bounds,
    pub(super) jobs: usize,
    pub(super) bases: Vec<Base>,
    pub(super) sites: Vec<Site>,
    /// The plans with one fault: for every base run, for every site.
    singles: Vec<(usize, Placed)>,
}

/// What came of all runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The first plan that breaks a rule; none with fewer faults does.
    Counterexample(Planned),
    /// No plan does.
    Quiet(Quiet),
    /// The work was stopped before its end.
    Stopped(Sum),
}

/// All plans were run, and none broke a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Quiet {
    /// What the runs came to.
    pub sum: Sum,
    /// Parts of the work, in order.
    pub slices: Vec<Slice>,
}

/// A part of the work, which can be done again by itself.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slice {
    /// How many faults its plans hold.
    pub faults: usize,
    /// Which units of those.
    pub units: Range<usize>,
    /// How many runs it took.
    pub runs: u64,
    /// SHA-256 over the digests of their histories, with their verdicts, in order.
    pub digest: String,
}

/// A plan that could not be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedPlan {
    /// Which.
    pub planned: Planned,
    /// Why.
    pub error: EngineError,
}

/// What came of a unit.
struct Done {
    sum: Sum,
    digest: String,
    found: Option<Planned>,
}

/// What came of several units, in order.
enum Part {
    Found(Planned),
    Stopped(Sum),
    Done(Vec<(u64, String)>, Sum),
}

impl<'b> Exploration<'b> {
    /// The work of some bounds; nothing is placed yet.
    pub fn unplaced(bounds: &'b Bounds, jobs: usize) -> Exploration<'b> {
        let (bases, sites) = (bases(bounds), all_sites(bounds));
        Exploration { bounds, jobs, bases, sites, singles: Vec::new() }
    }

    /// Places all first faults. One that is stopped meanwhile has not got all of them, and runs
    /// nothing.
    pub fn new(
        bounds: &'b Bounds,
        jobs: usize,
        stop: &Stop,
    ) -> Result<Exploration<'b>, FailedPlan> {
        let mut work = Exploration::unplaced(bounds, jobs);
        work.place_all(stop)?;
        Ok(work)
    }

    /// Places all first faults; not all of them if it is stopped.
    pub fn place_all(&mut self, stop: &Stop) -> Result<(), FailedPlan> {
        if self.bounds.faults == 0 {
            return Ok(());
        }
        let work = &*self;
        let numbers: Vec<usize> = (0..work.bases.len()).collect();
        let calm = FaultPlan::default();
        let scouts = in_parallel(work.jobs, &numbers, |base| work.scout(*base, &calm));
        let scouts = scouts.into_iter().collect::<Result<Vec<Scout>, _>>()?;
        let units: Vec<(usize, &Site)> =
            numbers.iter().flat_map(|base| work.sites.iter().map(|site| (*base, site))).collect();
        let placed = in_parallel(work.jobs, &units, |(base, site)| {
            if stop.is_asked() {
                return Ok((*base, Placed::default()));
            }
            Ok((*base, work.place(*base, &calm, &scouts[*base], site)?))
        });
        self.singles = placed.into_iter().collect::<Result<_, _>>()?;
        Ok(())
    }

    /// How many plans with one fault have been placed.
    pub fn singles(&self) -> u64 {
        self.singles.iter().map(|(_, placed)| placed.plans.len() as u64).sum()
    }

    /// The run of a plan.
    pub fn spec(&self, planned: &Planned) -> RunSpec {
        self.bounds.spec(&self.bases[planned.base], planned.plan.clone())
    }

    /// What the conditions of each base run are, in words.
    pub fn conditions(&self) -> Vec<&str> {
        self.bases.iter().map(|base| base.name.as_str()).collect()
    }

    /// Runs every plan, until one breaks a rule or it is stopped.
    pub fn explore(&self, progress: &dyn Progress, stop: &Stop) -> Result<Answer, FailedPlan> {
        let mut quiet = Quiet { sum: Sum::default(), slices: Vec::new() };
        for (faults, parts) in SLICES.iter().enumerate().take(usize::from(self.bounds.faults) + 1) {
            let units = 0..self.units(faults);
            match self.run(faults, units.clone(), progress, stop)? {
                Part::Found(planned) => return Ok(Answer::Counterexample(planned)),
                Part::Stopped(sum) => {
                    quiet.sum.absorb(&sum);
                    return Ok(Answer::Stopped(quiet.sum));
                }
                Part::Done(done, sum) => {
                    quiet.sum.absorb(&sum);
                    let slices = cut(units, *parts).into_iter();
                    quiet.slices.extend(slices.map(|units| slice(faults, units, &done)));
                }
            }
        }
        Ok(Answer::Quiet(quiet))
    }

    /// The parts that the work is cut into: how many faults their plans hold, and which units.
    pub(super) fn parts(&self) -> Vec<(usize, Range<usize>)> {
        let of = |faults: usize| {
            let parts = cut(0..self.units(faults), SLICES[faults]);
            parts.into_iter().map(move |units| (faults, units))
        };
        (0..=usize::from(self.bounds.faults)).flat_map(of).collect()
    }

    /// Does a part of the work again. `None` if it is stopped, or if a plan of it breaks a rule.
    pub fn again(
        &self,
        part: &Slice,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Option<Slice>, FailedPlan> {
        let end = part.units.end.min(self.units(part.faults));
        let units = part.units.start.min(end)..end;
        Ok(match self.run(part.faults, units.clone(), progress, stop)? {
            Part::Done(done, _) => {
                Some(Slice { units, ..slice(part.faults, 0..done.len(), &done) })
            }
            Part::Found(_) | Part::Stopped(_) => None,
        })
    }

    /// How many units the plans with so many faults make.
    fn units(&self, faults: usize) -> usize {
        match faults {
            0 => self.bases.len(),
            1 => self.singles.len(),
            _ => self.singles() as usize,
        }
    }

    /// Every plan with one fault, and the number of its base run.
    fn first_faults(&self) -> Vec<(usize, &FaultPlan)> {
        let plans = self.singles.iter().map(|(base, placed)| (*base, &placed.plans));
        plans.flat_map(|(base, plans)| plans.iter().map(move |plan| (base, plan))).collect()
    }

    /// Runs these units.
    fn run(
        &self,
        faults: usize,
        units: Range<usize>,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Part, FailedPlan> {
        let firsts = if faults == 2 { self.first_faults() } else { Vec::new() };
        let (mut done, mut sum) = (Vec::new(), Sum::default());
        let numbers: Vec<usize> = units.collect();
        for chunk in numbers.chunks(CHUNK) {
            let results = in_parallel(self.jobs, chunk, |unit| match faults {
                0 => self.run_base(*unit, progress, stop),
                1 => self.run_singles(*unit, progress, stop),
                _ => self.run_pairs(firsts[*unit], progress, stop),
            });
            let results = results.into_iter().collect::<Result<Vec<Done>, _>>()?;
            results.iter().for_each(|unit| sum.absorb(&unit.sum));
            if stop.is_asked() {
                return Ok(Part::Stopped(sum));
            }
            for unit in results {
                if let Some(planned) = unit.found {
                    return Ok(Part::Found(planned));
                }
                done.push((unit.sum.all_runs(), unit.digest));
            }
        }
        Ok(Part::Done(done, sum))
    }

    fn run_base(
        &self,
        base: usize,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Done, FailedPlan> {
        let calm = Placed { plans: vec![FaultPlan::default()], ..Placed::default() };
        let mut unit = Unit::default();
        self.run_placed(base, &calm, &mut unit, progress, stop)?;
        Ok(unit.done())
    }

    fn run_singles(
        &self,
        unit: usize,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Done, FailedPlan> {
        let (base, placed) = &self.singles[unit];
        let mut unit = Unit::default();
        self.run_placed(*base, placed, &mut unit, progress, stop)?;
        Ok(unit.done())
    }

    fn run_pairs(
        &self,
        (base, first): (usize, &FaultPlan),
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Done, FailedPlan> {
        let mut unit = Unit::default();
        if stop.is_asked() {
            return Ok(unit.done());
        }
        let scout = self.scout(base, first)?;
        for site in &self.sites {
            let placed = self.place(base, first, &scout, site)?;
            self.run_placed(base, &placed, &mut unit, progress, stop)?;
        }
        Ok(unit.done())
    }

    /// Runs plans until one breaks a rule.
    fn run_placed(
        &self,
        base: usize,
        placed: &Placed,
        unit: &mut Unit,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<(), FailedPlan> {
        unit.sum.leave_out(placed.pruned);
        for plan in &placed.plans {
            if unit.found.is_some() || stop.is_asked() {
                break;
            }
            let trial = trial(self.bounds, &self.bases[base], plan)
                .map_err(|error| FailedPlan { planned: planned(base, plan), error })?;
            let is_violated = trial.verdict == Verdict::Violated;
            unit.sum.count(plan.faults.len(), &trial);
            unit.digests.push_str(&format!("{} {}\n", trial.digest, trial.verdict.name()));
            unit.found = is_violated.then(|| planned(base, plan));
            progress.run_done(is_violated);
        }
        Ok(())
    }

    pub(super) fn scout(&self, base: usize, plan: &FaultPlan) -> Result<Scout, FailedPlan> {
        scout(self.bounds, &self.bases[base], plan)
            .map_err(|error| FailedPlan { planned: planned(base, plan), error })
    }

    fn place(
        &self,
        base: usize,
        prefix: &FaultPlan,
        scout: &Scout,
        site: &Site,
    ) -> Result<Placed, FailedPlan> {
        let ground = self.ground(base, prefix, scout);
        ground.place(site).map_err(|error| FailedPlan { planned: planned(base, prefix), error })
    }

    /// Where faults are added to a plan.
    pub(super) fn ground<'g>(
        &'g self,
        base: usize,
        prefix: &'g FaultPlan,
        scout: &'g Scout,
    ) -> Ground<'g> {
        Ground { bounds: self.bounds, base: &self.bases[base], prefix, scout }
    }
}

/// A unit that is being run.
#[derive(Default)]
struct Unit {
    sum: Sum,
    digests: String,
    found: Option<Planned>,
}

impl Unit {
    fn done(self) -> Done {
        Done { sum: self.sum, digest: sha256(self.digests.as_bytes()), found: self.found }
    }
}

fn planned(base: usize, plan: &FaultPlan) -> Planned {
    Planned { base, plan: plan.clone() }
}

/// At most so many parts of about the same size, none of them empty.
fn cut(units: Range<usize>, parts: usize) -> Vec<Range<usize>> {
    let parts = parts.min(units.len());
    let edge = |part: usize| units.start + units.len() * part / parts.max(1);
    (0..parts).map(|part| edge(part)..edge(part + 1)).collect()
}

/// The slice that these units make.
fn slice(faults: usize, units: Range<usize>, done: &[(u64, String)]) -> Slice {
    let own = &done[units.clone()];
    let digests: String = own.iter().map(|(_, digest)| digest.as_str()).collect();
    let runs = own.iter().map(|(runs, _)| runs).sum();
    Slice { faults, units, runs, digest: sha256(digests.as_bytes()) }
}
