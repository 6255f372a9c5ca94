//! Many seeds, over threads, added up. Must never know how the sum is shown.
//!
//! Threads take chunks of seeds in order; adding commutes, so the sum does not depend on how many threads there are or which came first.

use crate::engine::{Engine, EngineError};
use crate::inquest::inquire;
use crate::run::RunSpec;
use crate::scenario::Scenario;
use crate::verdicts::{Findings, tool};
use fencepost_clients::Definition;
use fencepost_faults::{Families, Seed};
use fencepost_reports::phases::phases;
use fencepost_reports::sweep::{Cell, FORMAT, Measured, RunSummary, SeedRange, Shard, Sweep, VERSION};
use fencepost_reports::{RunReport, Verdict};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How many seeds a thread takes at a time: enough that threads rarely meet, few enough that they end together.
const CHUNK: u64 = 16;

/// What a sweep runs.
#[derive(Clone)]
pub struct SweepSpec {
    /// Every lock under every combination of faults.
    pub cells: Vec<(&'static Definition, Families)>,
    /// The deployment, the workload and the habits.
    pub scenario: Scenario,
    /// Which engine runs the seeds.
    pub engine: Engine,
    /// The seeds of the whole sweep, before it is cut into shards.
    pub seeds: SeedRange,
    /// Which slice of them to run.
    pub shard: Shard,
    /// How many threads.
    pub jobs: usize,
    /// Stop at the first violation.
    pub fail_fast: bool,
    /// Whether the smallest run of every anomaly is made minimal and explained.
    pub explains: bool,
}

/// A run that could not be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FailedRun {
    /// Which lock.
    pub client: String,
    /// Which faults.
    pub fault: String,
    /// Which seed.
    pub seed: Seed,
    /// Why.
    pub error: EngineError,
}

/// Who hears of a sweep as it goes on. Called from any thread.
pub trait Listener: Sync {
    /// A run is done.
    fn run_done(&self, report: &RunReport, seed: Seed);
}

/// Asks a sweep to stop early: what is done by then is added up.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// A request that nobody has made yet.
    pub const fn new() -> Stop {
        Stop(AtomicBool::new(false))
    }

    /// Makes the request.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was made.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs every seed of the shard in every cell. The sum is the same whatever `jobs` is, unless it was stopped early.
pub fn sweep(spec: &SweepSpec, listener: &dyn Listener, stop: &Stop) -> Result<Sweep, FailedRun> {
    let range = spec.shard.slice(spec.seeds);
    let shared = Shared {
        spec,
        listener,
        stop,
        next: AtomicU64::new(range.from.0),
        end: range.to.0,
        done: Mutex::new(Done::new(spec)),
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..spec.jobs.max(1)).map(|_| scope.spawn(|| shared.work())).collect();
        for worker in workers {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    let done = shared.done.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    match done.failed {
        Some(failed) => Err(failed),
        None => {
            let mut sum = summary(spec, range, done);
            if spec.engine == Engine::Fast {
                confirm(spec, &mut sum)?;
            }
            if spec.explains {
                explain(spec, &mut sum)?;
            }
            Ok(sum)
        }
    }
}

/// What the threads share.
struct Shared<'s> {
    spec: &'s SweepSpec,
    listener: &'s dyn Listener,
    stop: &'s Stop,
    next: AtomicU64,
    end: u64,
    done: Mutex<Done>,
}

/// What has come of the sweep so far.
struct Done {
    cells: Vec<Cell>,
    /// The ranges of seeds that were run, in no order.
    ranges: Vec<SeedRange>,
    failed: Option<FailedRun>,
}

impl Done {
    fn new(spec: &SweepSpec) -> Done {
        let cell = |(client, families): &(&Definition, Families)| Cell::new(client.name, &families.to_string());
        Done { cells: spec.cells.iter().map(cell).collect(), ranges: Vec::new(), failed: None }
    }
}

impl Shared<'_> {
    /// One thread: takes chunks until there are none.
    fn work(&self) {
        let scenario = Rc::new(self.spec.scenario.clone());
        loop {
            let from = self.next.fetch_add(CHUNK, Ordering::Relaxed);
            if from >= self.end || self.stop.is_asked() {
                return;
            }
            let chunk = from..self.end.min(from.saturating_add(CHUNK));
            let mut cells = Done::new(self.spec).cells;
            let mut ran_to = chunk.start;
            for seed in chunk.clone() {
                if self.stop.is_asked() {
                    break;
                }
                if let Err(failed) = self.seed(Seed(seed), &scenario, &mut cells) {
                    self.fail(failed);
                    return;
                }
                ran_to = seed + 1;
            }
            self.add(&cells, SeedRange { from: Seed(chunk.start), to: Seed(ran_to) });
        }
    }

    /// One seed in every cell.
    fn seed(&self, seed: Seed, scenario: &Rc<Scenario>, cells: &mut [Cell]) -> Result<(), FailedRun> {
        for ((client, families), cell) in self.spec.cells.iter().zip(cells) {
            let spec = RunSpec::draw(seed, client, families, scenario.clone());
            let failed = |error| FailedRun { client: client.name.to_owned(), fault: families.to_string(), seed, error };
            let outcome = spec.run(self.spec.engine).map_err(failed)?;
            let report = Findings { spec: &spec, outcome: &outcome }.report();
            let phases = phases(&outcome.history);
            cell.add(&RunSummary { seed, run: &report, phases: &phases });
            if self.spec.fail_fast && report.verdict == Verdict::Violated {
                self.stop.ask();
            }
            self.listener.run_done(&report, seed);
        }
        Ok(())
    }

    fn add(&self, cells: &[Cell], range: SeedRange) {
        let mut done = self.done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (sum, cell) in done.cells.iter_mut().zip(cells) {
            sum.absorb(cell);
        }
        if !range.is_empty() {
            done.ranges.push(range);
        }
    }

    fn fail(&self, failed: FailedRun) {
        self.stop.ask();
        let mut done = self.done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // The lowest seed speaks, whichever thread came first.
        if done.failed.as_ref().is_none_or(|known| failed.seed < known.seed) {
            done.failed = Some(failed);
        }
    }
}

/// Runs the smallest run of every anomaly again under turmoil. Another history there is a failure of the simulation, not a finding.
fn confirm(spec: &SweepSpec, sum: &mut Sweep) -> Result<(), FailedRun> {
    for (place, seed, result) in again(spec, sum, |place, seed, scenario| confirm_run(spec, place, seed, scenario)) {
        result?;
        sum.cells[place].confirm(seed);
    }
    Ok(())
}

/// Makes the smallest run of every anomaly minimal and explains it.
fn explain(spec: &SweepSpec, sum: &mut Sweep) -> Result<(), FailedRun> {
    let smallest = |cell: &Cell, id: &str, seed: Seed| {
        cell.fingerprints.iter().any(|known| known.id == id && known.smallest.seed == seed)
    };
    let results = again(spec, sum, |place, seed, scenario| {
        let (client, families) = &spec.cells[place];
        let run = RunSpec::draw(seed, client, families, scenario.clone());
        let failed = |error| FailedRun { client: client.name.to_owned(), fault: families.to_string(), seed, error };
        let outcome = run.run(spec.engine).map_err(failed)?;
        let mut report = Findings { spec: &run, outcome: &outcome }.report();
        report.violations.retain(|one| smallest(&sum.cells[place], &one.violation.id, seed));
        inquire(&run, &mut report);
        Ok(report.violations)
    });
    for (place, _, violations) in results {
        violations?.into_iter().for_each(|violation| sum.cells[place].explain(violation));
    }
    Ok(())
}

/// What comes of doing something again with the smallest run of every anomaly, over threads, in order of cell and seed.
fn again<T: Send>(
    spec: &SweepSpec,
    sum: &Sweep,
    again: impl Fn(usize, Seed, &Rc<Scenario>) -> Result<T, FailedRun> + Sync,
) -> Vec<(usize, Seed, Result<T, FailedRun>)> {
    let mut runs: Vec<(usize, Seed)> = Vec::new();
    for (place, cell) in sum.cells.iter().enumerate() {
        let mut seeds: Vec<Seed> = cell.fingerprints.iter().map(|found| found.smallest.seed).collect();
        seeds.sort();
        seeds.dedup();
        runs.extend(seeds.into_iter().map(|seed| (place, seed)));
    }
    let next = AtomicU64::new(0);
    let results = Mutex::new(Vec::new());
    let work = || {
        let scenario = Rc::new(spec.scenario.clone());
        while let Some(&(place, seed)) = runs.get(next.fetch_add(1, Ordering::Relaxed) as usize) {
            let result = again(place, seed, &scenario);
            results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((place, seed, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..spec.jobs.max(1) {
            scope.spawn(work);
        }
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|(place, seed, _)| (*place, *seed));
    results
}

/// One run in both engines.
fn confirm_run(spec: &SweepSpec, place: usize, seed: Seed, scenario: &Rc<Scenario>) -> Result<(), FailedRun> {
    let (client, families) = &spec.cells[place];
    let run = RunSpec::draw(seed, client, families, scenario.clone());
    let failed = |error| FailedRun { client: client.name.to_owned(), fault: families.to_string(), seed, error };
    let fast = run.run(Engine::Fast).map_err(failed)?;
    let turmoil = run.run(Engine::Turmoil).map_err(failed)?;
    let pairs = fast.history.events.iter().zip(&turmoil.history.events);
    match pairs.clone().find(|(a, b)| a != b) {
        None if fast.history.events.len() == turmoil.history.events.len() => Ok(()),
        differing => {
            let first = differing.map_or(pairs.len() as u64, |(event, _)| event.sequence);
            Err(failed(EngineError::Differ(first)))
        }
    }
}

fn summary(spec: &SweepSpec, range: SeedRange, mut done: Done) -> Sweep {
    done.ranges.sort();
    let end = done.ranges.last().map_or(range.from, |last| last.to);
    let gaps = gaps(range.from, &done.ranges);
    let complete = end == range.to && gaps.is_empty();
    Sweep {
        format: FORMAT.to_owned(),
        version: VERSION,
        tool: tool(),
        config: config(spec),
        seeds: SeedRange { from: range.from, to: end },
        gaps,
        shard: spec.shard,
        complete,
        cells: done.cells,
        measured: Measured::default(),
    }
}

/// What lies between the ranges that were run.
fn gaps(from: Seed, ranges: &[SeedRange]) -> Vec<SeedRange> {
    let mut at = from;
    let mut gaps = Vec::new();
    for range in ranges {
        if range.from > at {
            gaps.push(SeedRange { from: at, to: range.from });
        }
        at = range.to;
    }
    gaps
}

/// What all runs have in common.
fn config(spec: &SweepSpec) -> serde_json::Value {
    let options: String =
        spec.scenario.deviations().iter().map(|(key, value)| format!(" --set {key}={value}")).collect();
    serde_json::json!({ "engine": spec.engine.name(), "options": options.trim_start(), "scenario": spec.scenario })
}
