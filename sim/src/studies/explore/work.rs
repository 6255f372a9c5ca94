//! All plans of the bounds, over threads: those with fewer faults first.
//!
//! The work is cut into units, in an order that does not depend on the threads: of plans to which
//! nothing is added each base run, of those to which one thing is each site of each base run, of the
//! others each thing that is added first. Threads take units chunk by chunk; of a chunk the first unit that found something speaks.
//! What is done is entered in a ledger, and what is in it is not done again.

use super::base::{Base, bases};
use super::bounds::Bounds;
use super::ledger::{Ledger, Slice, Unit, Units};
use super::level::{Kind, Level, up_to};
use super::order::order;
use super::place::{Ground, Placed, Planned, all_sites, order_sites};
use super::prune::Rule;
use super::scout::{Scout, scout};
use super::site::Site;
use super::sum::{Pruned, Sum};
use super::survey::Survey;
use super::trial::{Trial, trial};
use crate::engine::EngineError;
use crate::run::RunSpec;
use crate::studies::parallel::in_parallel;
use crate::studies::sweep::Stop;
use fencepost_faults::{FaultPlan, Seed};
use fencepost_reports::summary::sweep::{SeedRange, Shard};
use fencepost_reports::{Verdict, sha256};
use std::collections::BTreeSet;
use std::ops::Range;

/// How many units are taken at a time, by how much their plans hold: a violation ends the work after
/// at most so many, and a checkpoint waits for at most so many.
fn chunk(level: Level) -> usize {
    match level.depth() {
        0 | 1 => 64,
        _ => 16,
    }
}

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
    /// What can be added, by [`Kind`].
    sites: [Vec<Site>; 2],
    /// The plans with one fault or delay, by [`Kind`]: for every base run, for every site.
    firsts: [Vec<(usize, Placed)>; 2],
    /// Whether all of those are there; what is added after them is counted only then.
    pub(super) has_all_firsts: bool,
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
#[derive(Default)]
struct Done {
    sum: Sum,
    /// The digests of its histories with their verdicts, and, once it is over, the digest of those.
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
        let sites = match bounds.delays {
            0 => [Vec::new(), all_sites(bounds)],
            _ => [order_sites(bounds), all_sites(bounds)],
        };
        let firsts = [Vec::new(), Vec::new()];
        Exploration { bounds, jobs, bases: bases(bounds), sites, firsts, has_all_firsts: false }
    }

    /// Places all first faults and delays. One that is stopped meanwhile has not got all of them, and runs
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
        kind: Kind,
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
        let mut delays = std::mem::take(&mut self.firsts[Kind::Delay as usize]);
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
        self.firsts[Kind::Delay as usize] = delays;
        Ok(())
    }

    /// Of plans that add a delay to this one, marks those whose order of messages is that of the
    /// plan without it, or of one before.
    fn end_same_orders(
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
    pub(super) fn sites(&self, kind: Kind) -> &[Site] {
        &self.sites[kind as usize]
    }

    /// How many runs a shard takes, now that what is added first is placed.
    pub fn counted(&self, survey: &Survey, shard: Shard) -> Survey {
        let mut runs = [0_u128; 4];
        for (level, units) in self.units() {
            let units = own(shard, units);
            let firsts =
                Kind::ALL.into_iter().find(|kind| level.without(*kind) == Some(Level::default()));
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

    /// Does a part of the work again. `None` if it is stopped, or if a plan of it breaks a rule.
    pub fn again(
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

    /// How many units there are, level by level.
    pub fn units(&self) -> Units {
        let count = |level: Level| match level.depth() {
            0 => self.bases.len(),
            1 => level.kinds().map(|(kind, _)| self.firsts[kind as usize].len()).sum(),
            _ => level.kinds().map(|(kind, _)| self.roots(kind)).sum(),
        };
        up_to(self.bounds.most()).into_iter().map(|level| (level, count(level))).collect()
    }

    /// How many plans of a kind something is added to.
    fn roots(&self, kind: Kind) -> usize {
        let placed = self.firsts[kind as usize].iter();
        placed.map(|(_, placed)| placed.plans.len() - placed.dead_ends.len()).sum()
    }

    /// The plans of a kind that something is added to, and the base run of each.
    #[cfg(test)]
    pub(super) fn roots_of(&self, kind: Kind) -> impl Iterator<Item = (usize, &FaultPlan)> {
        let placed = self.firsts[kind as usize].iter();
        placed.flat_map(|(base, placed)| placed.roots().map(|plan| (*base, plan)))
    }

    /// The plan of that number to which something is added to come to this level: its base run, and
    /// what is left to add.
    fn root(&self, level: Level, number: usize) -> (usize, &FaultPlan, Level) {
        let mut left = number;
        for (kind, rest) in level.kinds() {
            for (base, placed) in &self.firsts[kind as usize] {
                let roots = placed.plans.len() - placed.dead_ends.len();
                match placed.roots().nth(left) {
                    Some(plan) => return (*base, plan, rest),
                    None => left -= roots,
                }
            }
        }
        panic!("there are fewer than {number} plans to add to")
    }

    /// Runs these units and enters those that were done, up to the first that found something.
    fn run(
        &self,
        level: Level,
        units: &[usize],
        ledger: &mut Ledger,
        progress: &dyn Progress,
        stop: &Stop,
    ) -> Result<End, FailedPlan> {
        let results = in_parallel(self.jobs, units, |unit| {
            let mut running = Running { level, progress, stop, done: Done::default() };
            match level.depth() {
                0 => self.run_base(*unit, &mut running),
                1 => self.run_firsts(*unit, &mut running),
                _ => self.run_after(self.root(level, *unit), &mut running),
            }?;
            Ok(running.done())
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
                        ledger.enter(level, *number, Unit { runs: sum.all_runs(), digest });
                    debug_assert!(is_new, "no unit is run twice");
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
        let kinds = unit.level.kinds().map(|(kind, _)| &self.firsts[kind as usize]);
        for (base, placed) in kinds.filter_map(|firsts| firsts.get(number)) {
            self.run_placed(*base, placed, unit)?;
        }
        Ok(())
    }

    /// Adds what is left to a plan, in every way, and runs those that hold all of it.
    fn run_after(
        &self,
        (base, prefix, left): (usize, &FaultPlan, Level),
        unit: &mut Running<'_>,
    ) -> Result<(), FailedPlan> {
        if unit.is_over() {
            return Ok(());
        }
        let scout = self.scout(base, prefix)?;
        for (kind, rest) in left.kinds() {
            if rest.depth() > 0 {
                self.run_deeper((base, prefix, &scout), (kind, rest), unit)?;
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

    /// Adds one of a kind, and then what is left after that.
    fn run_deeper(
        &self,
        at: (usize, &FaultPlan, &Scout),
        (kind, rest): (Kind, Level),
        unit: &mut Running<'_>,
    ) -> Result<(), FailedPlan> {
        let (base, prefix, scout) = at;
        let sites = self.sites(kind).iter();
        let placed = sites.map(|site| self.place(base, prefix, scout, site));
        let mut placed = placed.collect::<Result<Vec<Placed>, _>>()?;
        if kind == Kind::Delay && self.bounds.rules.contains(&Rule::Order) {
            let mut all: Vec<&mut Placed> = placed.iter_mut().collect();
            self.end_same_orders(at, &mut all, 1)?;
        }
        for one in &placed {
            // What else was left out is counted where plans of that level are run.
            let same_order = one.pruned.same_order;
            unit.done.sum.leave_out(Pruned { same_order, ..Pruned::default() });
            for plan in one.roots() {
                self.run_after((base, plan, rest), unit)?;
            }
        }
        Ok(())
    }

    /// Runs plans until one breaks a rule.
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
struct Running<'r> {
    level: Level,
    progress: &'r dyn Progress,
    stop: &'r Stop,
    done: Done,
}

impl Running<'_> {
    /// Whether nothing more of it is to be run: a plan breaks a rule, or it is stopped.
    fn is_over(&mut self) -> bool {
        if self.done.found.is_none() && self.stop.is_asked() {
            self.done.is_cut = true;
        }
        self.done.found.is_some() || self.done.is_cut
    }

    /// Counts a run.
    fn count(&mut self, trial: &Trial, planned: Planned) {
        let is_violated = trial.verdict == Verdict::Violated;
        self.done.sum.count(self.level, trial);
        self.done.digest.push_str(&format!("{} {}\n", trial.digest, trial.verdict.name()));
        self.done.found = is_violated.then_some(planned);
        self.progress.run_done(is_violated);
    }

    fn done(self) -> Done {
        Done { digest: sha256(self.done.digest.as_bytes()), ..self.done }
    }
}

/// A plan that is added to, as errors name it.
fn planned(base: usize, plan: &FaultPlan) -> Planned {
    Planned { base, level: Level::default(), plan: plan.clone() }
}

/// The units of a shard.
fn own(shard: Shard, units: usize) -> Range<usize> {
    let own = shard.slice(SeedRange { from: Seed(0), to: Seed(units as u64) });
    own.from.0 as usize..own.to.0 as usize
}
