//! Runs all plans within the bounds in parallel, those with fewer faults first. A unit of work is a
//! base run, a site in a base run (for plans with one fault or delay), or a first fault or delay
//! (for larger plans). The threads work on one chunk of units at a time. The counterexample comes
//! from the first unit of a chunk that has a violation.

use super::ledger::{Ledger, Slice, Unit};
use super::sum::Sum;
use super::trial::{Trial, trial};
use crate::engine::EngineError;
use crate::run::RunSpec;
use crate::run::parallel::in_parallel;
use crate::studies::explore::plan::base::{Base, bases};
use crate::studies::explore::plan::bounds::Bounds;
use crate::studies::explore::plan::level::{Added, Level};
use crate::studies::explore::plan::place::{Origin, Placed, Planned, all_sites, order_sites};
use crate::studies::explore::plan::prune::Pruned;
use crate::studies::explore::plan::rule::Rule;
use crate::studies::explore::plan::scout::{Scout, scout};
use crate::studies::explore::plan::site::Site;
use crate::studies::sweep::Stop;
use fencepost_faults::{FaultPlan, Seed};
use fencepost_reports::summary::sweep::{SeedRange, Shard};
use fencepost_reports::{Verdict, sha256};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

fn chunk(level: Level) -> usize {
    match level.depth() {
        0 | 1 => 64,
        _ => 16,
    }
}

pub trait Progress: Sync {
    fn run_done(&self, is_violated: bool);

    /// Called after each chunk of units, with the ledger of all finished units.
    fn added(&self, ledger: &Ledger) {
        let _ = ledger;
    }
}

pub struct Exploration<'b> {
    pub(crate) bounds: &'b Bounds,
    pub(crate) jobs: usize,
    pub(crate) bases: Vec<Base>,
    pub(crate) sites: [Vec<Site>; 2],
    pub(crate) calm: Vec<OnceLock<Scout>>,
    pub(crate) firsts: [Vec<(usize, Placed)>; 2],
    pub(crate) has_all_firsts: bool,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// A plan that breaks a rule. In this shard, no plan with fewer faults breaks one.
    Counterexample(Planned),
    Quiet(Ledger),
    Stopped(Ledger),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedPlan {
    pub planned: Planned,
    pub error: EngineError,
}

#[derive(Default)]
struct Done {
    sum: Sum,
    digest: String,
    found: Option<Planned>,
    is_cut: bool,
}

enum End {
    Done,
    Stopped,
    Found(Planned),
}

impl<'b> Exploration<'b> {
    pub fn unplaced(bounds: &'b Bounds, jobs: usize) -> Exploration<'b> {
        let sites = match bounds.delays {
            0 => [Vec::new(), all_sites(bounds)],
            _ => [order_sites(bounds), all_sites(bounds)],
        };
        let firsts = [Vec::new(), Vec::new()];
        let bases = bases(bounds);
        let calm = bases.iter().map(|_| OnceLock::new()).collect();
        Exploration { bounds, jobs, bases, sites, calm, firsts, has_all_firsts: false }
    }

    /// Creates an exploration and calls [`Exploration::place_all`].
    pub fn new(
        bounds: &'b Bounds,
        jobs: usize,
        stop: &Stop,
    ) -> Result<Exploration<'b>, FailedPlan> {
        let mut work = Exploration::unplaced(bounds, jobs);
        work.place_all(stop)?;
        Ok(work)
    }

    pub fn spec(&self, planned: &Planned) -> RunSpec {
        self.bounds.spec(&self.bases[planned.base], planned.plan.clone())
    }

    pub fn conditions(&self) -> Vec<String> {
        self.bases.iter().map(|base| base.name.clone()).collect()
    }

    /// Runs the shard's plans that are not in `ledger`. The ledger must have the units of
    /// [`Exploration::units`].
    pub fn explore(
        &self,
        shard: Shard,
        mut ledger: Ledger,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Answer, FailedPlan> {
        for (level, count) in self.units() {
            let left = own(shard, count).filter(|unit| !ledger.has(level, *unit));
            let left: Vec<usize> = left.collect();
            for chunk in left.chunks(chunk(level)) {
                let end = self.run(level, chunk, &mut ledger, progress, stop)?;
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

    /// Runs the units of a slice again. Returns `None` after a stop or a violation.
    pub fn recheck(
        &self,
        part: &Slice,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<Option<Slice>, FailedPlan> {
        let mut ledger = Ledger::new(self.units());
        let units: Vec<usize> = part.units.clone().collect();
        for chunk in units.chunks(chunk(part.level)) {
            match self.run(part.level, chunk, &mut ledger, progress, stop)? {
                End::Done => {}
                End::Found(_) | End::Stopped => return Ok(None),
            }
        }
        Ok(ledger.slices().next().cloned())
    }

    fn run(
        &self,
        level: Level,
        units: &[usize],
        ledger: &mut Ledger,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<End, FailedPlan> {
        let earliest = AtomicUsize::new(usize::MAX);
        let results = in_parallel(self.jobs, units, |unit| {
            let done = Done::default();
            let mut running =
                Running { level, number: *unit, earliest: &earliest, progress, stop, done };
            match level.depth() {
                0 => self.run_base(*unit, &mut running),
                1 => self.run_firsts(*unit, &mut running),
                _ => {
                    let (base, prefix, left) = self.root(level, *unit);
                    self.run_after(base, prefix, left, &mut running)
                }
            }?;
            Ok(running.done())
        });
        let mut end = End::Done;
        for (number, unit) in units.iter().zip(results) {
            let Done { sum, digest, found, is_cut } = unit?;
            match found {
                // The violation is the first only if all earlier units of the chunk are done.
                Some(planned) if matches!(end, End::Done) => return Ok(End::Found(planned)),
                _ if is_cut || found.is_some() => end = End::Stopped,
                _ => {
                    let is_new =
                        ledger.enter(level, *number, Unit { runs: sum.all_runs(), digest });
                    assert!(is_new, "no unit is run twice");
                    ledger.add(&sum);
                }
            }
        }
        Ok(end)
    }

    fn run_base(&self, base: usize, unit: &mut Running<'_>) -> Result<(), FailedPlan> {
        let calm = Placed { plans: vec![FaultPlan::default()], ..Placed::default() };
        self.run_placed(base, &calm, unit)
    }

    fn run_firsts(&self, number: usize, unit: &mut Running<'_>) -> Result<(), FailedPlan> {
        for (kind, _) in unit.level.kinds() {
            if let Some((base, placed)) = self.firsts[kind as usize].get(number) {
                self.run_placed(*base, placed, unit)?;
            } else if !unit.is_over() {
                let (base, placed) = self.place_first(kind, number)?;
                self.run_placed(base, &placed, unit)?;
            }
        }
        Ok(())
    }

    fn run_after(
        &self,
        base: usize,
        prefix: &FaultPlan,
        left: Level,
        unit: &mut Running<'_>,
    ) -> Result<(), FailedPlan> {
        if unit.is_over() {
            return Ok(());
        }
        let scout = self.scout(base, prefix)?;
        for (kind, rest) in left.kinds() {
            if rest.depth() > 0 {
                self.run_deeper(base, prefix, &scout, kind, rest, unit)?;
                continue;
            }
            for site in self.sites(kind) {
                if unit.is_over() {
                    break;
                }
                let placed = self.place(base, prefix, &scout, site)?;
                self.run_placed(base, &placed, unit)?;
            }
        }
        Ok(())
    }

    fn run_deeper(
        &self,
        base: usize,
        prefix: &FaultPlan,
        scout: &Scout,
        kind: Added,
        rest: Level,
        unit: &mut Running<'_>,
    ) -> Result<(), FailedPlan> {
        let sites = self.sites(kind).iter();
        let placed = sites.map(|site| self.place(base, prefix, scout, site));
        let mut placed = placed.collect::<Result<Vec<Placed>, _>>()?;
        if kind == Added::Delay && self.bounds.rules.contains(&Rule::Order) {
            let mut all: Vec<&mut Placed> = placed.iter_mut().collect();
            self.end_same_orders(base, prefix, scout, &mut all, 1)?;
        }
        for one in &placed {
            let same_order = one.pruned.same_order;
            unit.done.sum.leave_out(Pruned { same_order, ..Pruned::default() });
            for plan in one.roots() {
                self.run_after(base, plan, rest, unit)?;
            }
        }
        Ok(())
    }

    fn run_placed(
        &self,
        base: usize,
        placed: &Placed,
        unit: &mut Running<'_>,
    ) -> Result<(), FailedPlan> {
        unit.done.sum.leave_out(placed.pruned);
        for plan in &placed.plans {
            if unit.is_over() {
                break;
            }
            let planned = Planned { base, level: unit.level, plan: plan.clone() };
            let trial = match trial(self.bounds, &self.bases[base], plan) {
                Ok(trial) => trial,
                Err(error) => return Err(FailedPlan { planned, error }),
            };
            unit.count(&trial, planned);
        }
        Ok(())
    }

    pub(crate) fn scout(&self, base: usize, plan: &FaultPlan) -> Result<Scout, FailedPlan> {
        scout(self.bounds, &self.bases[base], plan)
            .map_err(|error| FailedPlan { planned: planned(base, plan), error })
    }

    pub(crate) fn calm(&self, base: usize) -> Result<&Scout, FailedPlan> {
        if let Some(scout) = self.calm[base].get() {
            return Ok(scout);
        }
        let scout = self.scout(base, &FaultPlan::default())?;
        Ok(self.calm[base].get_or_init(|| scout))
    }

    pub(crate) fn place(
        &self,
        base: usize,
        prefix: &FaultPlan,
        scout: &Scout,
        site: &Site,
    ) -> Result<Placed, FailedPlan> {
        let origin = self.origin(base, prefix, scout);
        origin.place(site).map_err(|error| FailedPlan { planned: planned(base, prefix), error })
    }

    pub(crate) fn origin<'g>(
        &'g self,
        base: usize,
        prefix: &'g FaultPlan,
        scout: &'g Scout,
    ) -> Origin<'g> {
        Origin { bounds: self.bounds, base: &self.bases[base], prefix, scout }
    }
}

struct Running<'r> {
    level: Level,
    number: usize,
    earliest: &'r AtomicUsize,
    progress: &'r dyn Progress,
    stop: &'r Stop,
    done: Done,
}

impl Running<'_> {
    fn is_over(&mut self) -> bool {
        let is_beaten = self.earliest.load(Ordering::Relaxed) < self.number;
        if self.done.found.is_none() && (is_beaten || self.stop.is_asked()) {
            self.done.is_cut = true;
        }
        self.done.found.is_some() || self.done.is_cut
    }

    fn count(&mut self, trial: &Trial, planned: Planned) {
        let is_violated = trial.verdict == Verdict::Violated;
        self.done.sum.count(self.level, trial);
        self.done.digest.push_str(&format!("{} {}\n", trial.digest, trial.verdict.name()));
        if is_violated {
            self.done.found = Some(planned);
            self.earliest.fetch_min(self.number, Ordering::Relaxed);
        }
        self.progress.run_done(is_violated);
    }

    fn done(self) -> Done {
        Done { digest: sha256(self.done.digest.as_bytes()), ..self.done }
    }
}

fn planned(base: usize, plan: &FaultPlan) -> Planned {
    Planned { base, level: Level::default(), plan: plan.clone() }
}

pub(crate) fn own(shard: Shard, units: usize) -> Range<usize> {
    let own = shard.slice(SeedRange { from: Seed(0), to: Seed(units as u64) });
    own.from.0 as usize..own.to.0 as usize
}
