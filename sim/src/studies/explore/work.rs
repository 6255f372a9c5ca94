//! All plans of the bounds, over threads: those with fewer faults first.
//!
//! The work is cut into units, in an order that does not depend on the threads: of plans without a
//! fault each base run, of those with one each site of each base run, of those with two each first
//! fault. Threads take units chunk by chunk; of a chunk the first unit that found something speaks.
//! What is done is entered in a ledger, and what is in it is not done again.

use super::base::{Base, bases};
use super::bounds::Bounds;
use super::ledger::{Ledger, Slice, Unit};
use super::place::{Ground, Placed, Planned, all_sites};
use super::scout::{Scout, scout};
use super::site::Site;
use super::sum::Sum;
use super::survey::Survey;
use super::trial::trial;
use crate::engine::EngineError;
use crate::run::RunSpec;
use crate::studies::parallel::in_parallel;
use crate::studies::sweep::Stop;
use fencepost_faults::{FaultPlan, Seed};
use fencepost_reports::summary::sweep::{SeedRange, Shard};
use fencepost_reports::{Verdict, sha256};
use std::ops::Range;

/// How many units are taken at a time, by the number of faults of their plans: a violation ends the
/// work after at most so many, and a checkpoint waits for at most so many.
const CHUNK: [usize; 3] = [64, 64, 16];

/// Who hears of the runs as they are made. Called from any thread.
pub trait Progress: Sync {
    /// A run is done.
    fn run_done(&self, is_violated: bool);

    /// Some units are done.
    fn added(&self, ledger: &Ledger) {
        let _ = ledger;
    }
}

/// The plans of some bounds, ready to be run.
pub struct Exploration<'b> {
    pub(super) bounds: &'b Bounds,
    pub(super) jobs: usize,
    pub(super) bases: Vec<Base>,
    pub(super) sites: Vec<Site>,
    /// The plans with one fault: for every base run, for every site.
    singles: Vec<(usize, Placed)>,
    /// Whether all of those are there; second faults are counted only then.
    pub(super) has_all_singles: bool,
}

/// What came of all runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The first plan that breaks a rule; none with fewer faults does.
    Counterexample(Planned),
    /// No plan does.
    Quiet(Ledger),
    /// The work was stopped before its end; what is done by then.
    Stopped(Ledger),
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
    /// Whether it was stopped before its end.
    is_cut: bool,
}

/// How some units ended.
enum End {
    Done,
    Stopped,
    Found(Planned),
}

impl<'b> Exploration<'b> {
    /// The work of some bounds; nothing is placed yet.
    pub fn unplaced(bounds: &'b Bounds, jobs: usize) -> Exploration<'b> {
        let (bases, sites) = (bases(bounds), all_sites(bounds));
        Exploration { bounds, jobs, bases, sites, singles: Vec::new(), has_all_singles: false }
    }

    /// Places all first faults. One that is stopped meanwhile has not got all of them, and runs
    /// nothing.
    pub fn new(
        bounds: &'b Bounds,
        jobs: usize,
        stop: &Stop,
    ) -> Result<Exploration<'b>, FailedPlan> {
        let mut work = Exploration::unplaced(bounds, jobs);
        work.place_all(Shard::WHOLE, stop)?;
        Ok(work)
    }

    /// Places the first faults, those of other shards too where second ones are placed after them;
    /// not all of them if it is stopped.
    pub fn place_all(&mut self, shard: Shard, stop: &Stop) -> Result<(), FailedPlan> {
        let units = self.bases.len() * self.sites.len();
        let needed = if self.bounds.faults == 1 { own(shard, units) } else { 0..units };
        self.place_units(std::slice::from_ref(&needed), stop)
    }

    /// Places the first faults that these parts of the work want: all of them if one holds plans
    /// with two faults.
    pub fn place_for(&mut self, parts: &[Slice], stop: &Stop) -> Result<(), FailedPlan> {
        if parts.iter().any(|part| part.faults > 1) {
            return self.place_all(Shard::WHOLE, stop);
        }
        let singles = parts.iter().filter(|part| part.faults == 1);
        let needed: Vec<Range<usize>> = singles.map(|part| part.units.clone()).collect();
        self.place_units(&needed, stop)
    }

    /// Places these first faults.
    fn place_units(&mut self, needed: &[Range<usize>], stop: &Stop) -> Result<(), FailedPlan> {
        if self.bounds.faults == 0 {
            return Ok(());
        }
        let is_needed = |unit: usize| needed.iter().any(|range| range.contains(&unit));
        let work = &*self;
        let numbers: Vec<usize> = (0..work.bases.len()).collect();
        let calm = FaultPlan::default();
        let scouts = in_parallel(work.jobs, &numbers, |base| work.scout(*base, &calm));
        let scouts = scouts.into_iter().collect::<Result<Vec<Scout>, _>>()?;
        let units: Vec<(usize, &Site)> =
            numbers.iter().flat_map(|base| work.sites.iter().map(|site| (*base, site))).collect();
        let numbers: Vec<usize> = (0..units.len()).collect();
        let placed = in_parallel(work.jobs, &numbers, |number| {
            let (base, site) = units[*number];
            if stop.is_asked() || !is_needed(*number) {
                return Ok((base, Placed::default()));
            }
            Ok((base, work.place(base, &calm, &scouts[base], site)?))
        });
        let has_all = numbers.into_iter().all(is_needed);
        self.singles = placed.into_iter().collect::<Result<_, _>>()?;
        self.has_all_singles = has_all;
        Ok(())
    }

    /// How many runs a shard takes, now that its first faults are placed.
    pub fn counted(&self, survey: &Survey, shard: Shard) -> Survey {
        let [bases, units, firsts] = self.units().map(|units| own(shard, units));
        let singles = self.singles[units].iter().map(|(_, placed)| placed.plans.len() as u128);
        let pairs = survey.runs[2].saturating_mul(firsts.len() as u128) / survey.runs[1].max(1);
        Survey { runs: [bases.len() as u128, singles.sum(), pairs], ..*survey }
    }

    /// The run of a plan.
    pub fn spec(&self, planned: &Planned) -> RunSpec {
        self.bounds.spec(&self.bases[planned.base], planned.plan.clone())
    }

    /// What the conditions of each base run are, in words.
    pub fn conditions(&self) -> Vec<String> {
        self.bases.iter().map(|base| base.name.clone()).collect()
    }

    /// Runs every plan of a shard that is not in the ledger yet, until one breaks a rule or it is
    /// stopped. The ledger is one of [`Exploration::units`].
    pub fn explore(
        &self,
        shard: Shard,
        mut ledger: Ledger,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Answer, FailedPlan> {
        for (faults, count) in self.units().into_iter().enumerate() {
            let left = own(shard, count).filter(|unit| !ledger.has(faults, *unit));
            let left: Vec<usize> = left.collect();
            for chunk in left.chunks(CHUNK[faults]) {
                let end = self.run(faults, chunk, &mut ledger, progress, stop)?;
                progress.added(&ledger);
                match end {
                    End::Done => {}
                    End::Found(planned) => return Ok(Answer::Counterexample(planned)),
                    End::Stopped => return Ok(Answer::Stopped(ledger)),
                }
            }
        }
        Ok(Answer::Quiet(ledger))
    }

    /// Does a part of the work again. `None` if it is stopped, or if a plan of it breaks a rule.
    pub fn again(
        &self,
        part: &Slice,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Option<Slice>, FailedPlan> {
        let mut ledger = Ledger::new(self.units());
        let units: Vec<usize> = part.units.clone().collect();
        for chunk in units.chunks(CHUNK[part.faults.min(2)]) {
            match self.run(part.faults, chunk, &mut ledger, progress, stop)? {
                End::Done => {}
                End::Found(_) | End::Stopped => return Ok(None),
            }
        }
        Ok(ledger.slices().next().cloned())
    }

    /// How many units the plans with no fault, one and two make.
    pub fn units(&self) -> [usize; 3] {
        let pairs = self.singles.iter().map(|(_, placed)| placed.plans.len()).sum();
        let units = [self.bases.len(), self.singles.len(), pairs];
        let is_asked = |faults: usize| faults <= usize::from(self.bounds.faults);
        std::array::from_fn(|faults| if is_asked(faults) { units[faults] } else { 0 })
    }

    /// The plan with one fault of that number, and the number of its base run.
    fn first_fault(&self, number: usize) -> (usize, &FaultPlan) {
        let mut left = number;
        for (base, placed) in &self.singles {
            match placed.plans.get(left) {
                Some(plan) => return (*base, plan),
                None => left -= placed.plans.len(),
            }
        }
        panic!("there are fewer than {number} plans with one fault")
    }

    /// Runs these units and enters those that were done, up to the first that found something.
    fn run(
        &self,
        faults: usize,
        units: &[usize],
        ledger: &mut Ledger,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<End, FailedPlan> {
        let results = in_parallel(self.jobs, units, |unit| match faults {
            0 => self.run_base(*unit, progress, stop),
            1 => self.run_singles(*unit, progress, stop),
            _ => self.run_pairs(self.first_fault(*unit), progress, stop),
        });
        let mut end = End::Done;
        for (number, unit) in units.iter().zip(results) {
            let Done { sum, digest, found, is_cut } = unit?;
            match found {
                // Only if all before it are done it is the first.
                Some(planned) if matches!(end, End::Done) => return Ok(End::Found(planned)),
                _ if is_cut || found.is_some() => end = End::Stopped,
                _ => {
                    let is_new =
                        ledger.enter(faults, *number, Unit { runs: sum.all_runs(), digest });
                    debug_assert!(is_new, "no unit is run twice");
                    ledger.add(&sum);
                }
            }
        }
        Ok(end)
    }

    fn run_base(
        &self,
        base: usize,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Done, FailedPlan> {
        let calm = Placed { plans: vec![FaultPlan::default()], ..Placed::default() };
        let mut unit = Running::default();
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
        let mut unit = Running::default();
        self.run_placed(*base, placed, &mut unit, progress, stop)?;
        Ok(unit.done())
    }

    fn run_pairs(
        &self,
        (base, first): (usize, &FaultPlan),
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Done, FailedPlan> {
        let mut unit = Running::default();
        if stop.is_asked() {
            unit.is_cut = true;
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
        unit: &mut Running,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<(), FailedPlan> {
        unit.sum.leave_out(placed.pruned);
        for plan in &placed.plans {
            if unit.found.is_some() {
                break;
            }
            if stop.is_asked() {
                unit.is_cut = true;
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
struct Running {
    sum: Sum,
    digests: String,
    found: Option<Planned>,
    is_cut: bool,
}

impl Running {
    fn done(self) -> Done {
        let digest = sha256(self.digests.as_bytes());
        Done { sum: self.sum, digest, found: self.found, is_cut: self.is_cut }
    }
}

fn planned(base: usize, plan: &FaultPlan) -> Planned {
    Planned { base, plan: plan.clone() }
}

/// The units of a shard.
fn own(shard: Shard, units: usize) -> Range<usize> {
    let own = shard.slice(SeedRange { from: Seed(0), to: Seed(units as u64) });
    own.from.0 as usize..own.to.0 as usize
}
