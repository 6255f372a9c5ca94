use super::arguments::{Seeds, SweepArguments};
use super::checkpoint_file::{CheckpointFile, json, place, to_resume};
use super::expect::{self, Expectations, JudgedCell};
use super::findings::Known;
use super::interrupt::{Interrupt, end_soon};
use super::memory::MemoryBound;
use super::options::{Options, format_of_sweeps};
use super::output::{log, make_folder, print, require_writable};
use super::progress::{Earlier, Progress, clock};
use super::read::sweep_in;
use super::run::write_violations;
use super::{Failure, Outcome};
use crate::Engine;
use crate::setup::shard::shard;
use crate::studies::sweep::{
    self as many_seeds, Checkpoint, FailedRun, Listener, Stage, Stop, SweepSpec, kept,
};
use fencepost_faults::Seed;
use fencepost_reports::show::format::{FORMATS, Format, Sweeps};
use fencepost_reports::summary::sweep::{
    Cell, Comparison, Measured, SeedRange, Shard, Sweep, runs_of,
};
use fencepost_reports::{RunFacts, Verdict};
use std::path::Path;
use std::time::{Duration, Instant};

static STOP: Stop = Stop::new();
static INTERRUPT: Interrupt = Interrupt::new();
static MEMORY: MemoryBound = MemoryBound::new();

pub(crate) fn sweep(arguments: &SweepArguments) -> Result<Outcome, Failure> {
    let options = Options::read(&arguments.common, Engine::Fast, format_of_sweeps)?;
    let expectations = expect::of_cells(arguments.common.expect.as_deref(), &options.cells)?;
    let baseline = arguments.baseline.as_deref().map(|path| baseline(path, options.format));
    let baseline = baseline.transpose()?;
    let known = arguments.findings.as_deref().map(Known::read).transpose()?;
    let shard = shard(arguments.shard, |name| std::env::var(name).ok()).map_err(Failure::wrong)?;
    let checkpoint = place(arguments, shard)?;
    let resumed = to_resume(checkpoint.as_deref().filter(|_| arguments.resume))?;
    let seeds = seeds(arguments, known.as_ref(), resumed.as_ref())?;
    let spec = spec(arguments, &options, (seeds, shard));
    arguments.common.out.as_deref().map_or(Ok(()), make_folder)?;
    require_checkpoint(arguments, checkpoint.as_deref())?;
    let start = match (&checkpoint, resumed) {
        (Some(path), Some(resumed)) => {
            Some(resumed.sum_for(&spec).map_err(|error| Failure::content(path, error))?)
        }
        _ => None,
    };
    INTERRUPT.listen(&STOP)?;
    if let Some(max) = arguments.max_memory {
        MEMORY.watch(max, &STOP)?;
    }
    let earlier = start.as_ref().map(earlier_runs).unwrap_or_default();
    let runs = spec.shard.slice(spec.seeds).len() * spec.cells.len() as u64;
    let budget = arguments.time_budget.map(Duration::from);
    budget.map_or(Ok(()), watch_budget)?;
    let deadline = budget.map(|budget| clock() + budget);
    let retested = known.as_ref().map(|known| known.retest(&spec, &STOP, deadline)).transpose()?;
    let watch = Watch {
        spec: &spec,
        progress: Progress::new(runs, arguments.quiet.verbosity())
            .resuming(earlier)
            .of_shard(spec.shard),
        deadline,
        checkpoint: checkpoint
            .map(|path| CheckpointFile::new(path, arguments.checkpoint_every.map(Duration::from))),
    };
    let many_seeds::Swept { mut sum, failed } =
        many_seeds::sweep(&spec, start.as_ref(), &watch, &STOP);
    MEMORY.yield_end();
    watch.finish(&sum);
    sum.measured = measured(&watch.progress, spec.jobs);
    // Print the results before writing files, because the writes may fail on a full disk.
    let mut shown = sum.clone();
    if let Some((name, old)) = &baseline {
        let tool = sum.tool.clone();
        let comparison = Comparison::of((name, old), ("this sweep", &sum), tool);
        shown.baseline = Some(Box::new(comparison.map_err(Failure::wrong)?));
    }
    if let (Some(known), Some(retested)) = (&known, &retested) {
        known.mark(&mut shown, retested)?;
    }
    let mut outcome = conclude(shown, options.format, expectations.as_ref())?;
    if let (Some(known), Some(retested)) = (&known, &retested) {
        let open = known.enter(&sum, retested)?;
        outcome = if expectations.is_none() { outcome.max(open) } else { outcome };
    }
    if let Some(file) = watch.checkpoint {
        file.write(&|| json(&spec, sum.clone()))?;
        file.failure().map_or(Ok(()), Err)?;
    }
    if let Some(folder) = &arguments.common.out {
        kept(&spec, &sum, &|report| write_violations(folder, report))?;
    }
    arguments.max_memory.map_or(Ok(()), |max| MEMORY.kept(max))?;
    failed.map_or(Ok(()), |run| Err(Failure::from(run)))?;
    Ok(INTERRUPT.outcome().unwrap_or(outcome))
}

fn earlier_runs(sweep: &Sweep) -> Earlier {
    Earlier {
        runs: seeds_run(sweep) * sweep.cells.len() as u64,
        violated: sweep.cells.iter().map(|cell| cell.violated).sum(),
    }
}

fn seeds_run(sweep: &Sweep) -> u64 {
    runs_of(sweep).iter().map(|range| range.len()).sum()
}

/// Fails if the sweep cannot write its checkpoint.
fn require_checkpoint(arguments: &SweepArguments, path: Option<&Path>) -> Result<(), Failure> {
    let option = if arguments.checkpoint.is_some() { "--checkpoint" } else { "--out" };
    path.map_or(Ok(()), |path| require_writable(option, path))
}

/// Ends the sweep, including minimization, once twice `budget` has passed.
fn watch_budget(budget: Duration) -> Result<(), Failure> {
    let (started, most) = (clock(), budget.saturating_mul(2));
    let watch = move || {
        while let Some(left) = most.checked_sub(started.elapsed()).filter(|left| !left.is_zero()) {
            std::thread::park_timeout(left);
        }
        end_soon(&STOP);
    };
    let named = std::thread::Builder::new().name("budget".to_owned());
    named
        .spawn(watch)
        .map(drop)
        .map_err(|error| Failure::wrong(format!("cannot start a thread: {error}")))
}

fn note_end_of_budget(spec: &SweepSpec, sum: &Sweep) {
    let (ran, all) = (seeds_run(sum), spec.shard.slice(spec.seeds).len());
    if ran < all {
        log(format_args!("--time-budget ended the sweep after {ran} of {all} seeds"));
    }
}

fn note_unminimized(spec: &SweepSpec, sum: &Sweep) {
    let found = sum.cells.iter().flat_map(|cell| &cell.fingerprints);
    let left = found.filter(|found| found.report.is_none()).count();
    if STOP.is_urgent() && spec.explains && left > 0 {
        log(format_args!(
            "note: the sweep stopped before it minimized {left} of the violations: to minimize \
             them, run their seeds with `fencepost run`"
        ));
    }
}

fn baseline(path: &Path, format: Sweeps) -> Result<(String, Sweep), Failure> {
    if !format.has_baselines() {
        let all = FORMATS.iter().filter_map(Format::of_sweeps);
        let with_baselines = all.filter(Sweeps::has_baselines);
        let names: Vec<&str> = with_baselines.map(|format| format.name()).collect();
        return Err(Failure::wrong(format!(
            "format '{}' does not support --baseline: expected one of {}",
            format.name(),
            names.join(", ")
        )));
    }
    Ok((path.display().to_string(), sweep_in(path)?))
}

fn spec(
    arguments: &SweepArguments,
    options: &Options<Sweeps>,
    (seeds, shard): (SeedRange, Shard),
) -> SweepSpec {
    SweepSpec {
        cells: options.cells.clone(),
        scenario: options.scenario.clone(),
        engine: options.engine,
        seeds,
        shard,
        jobs: arguments.jobs.count(),
        fail_fast: arguments.fail_fast,
        // An explanation needs many runs, and runs of traced processes are slow.
        explains: !arguments.common.no_shrink
            && options.scenario.programs.is_empty()
            && options.scenario.binaries.is_empty(),
        violations_max: arguments.max_violations,
    }
}

/// With `--seeds +N --resume`, returns the seeds of the unfinished checkpoint, because the stopped
/// sweep may have advanced the next seed of the findings store.
fn seeds(
    arguments: &SweepArguments,
    known: Option<&Known>,
    resumed: Option<&Checkpoint>,
) -> Result<SeedRange, Failure> {
    let (from, to) = match (arguments.seeds, known) {
        (Seeds::Range(from, to), _) => (Seed(from), Seed(to)),
        (Seeds::Next(count), Some(known)) => {
            let unfinished = resumed.and_then(Checkpoint::asked_if_unfinished);
            if let Some(asked) = unfinished.filter(|asked| asked.len() == count) {
                return Ok(asked);
            }
            let from = known.next_seed();
            (from, Seed(from.0.saturating_add(count)))
        }
        (Seeds::Next(count), None) => {
            return Err(Failure::wrong(format!(
                "--seeds '+{count}': expected --findings FILE too, because the findings store \
                 records the seeds of earlier sweeps"
            )));
        }
    };
    Ok(SeedRange { from, to })
}

pub(crate) fn conclude(
    mut sum: Sweep,
    format: Sweeps,
    expectations: Option<&Expectations>,
) -> Result<Outcome, Failure> {
    if let Some(expectations) = expectations {
        expectations.hold(&mut sum);
    }
    let mut text = Vec::new();
    format.write(&sum, &mut text).map_err(Failure::Output)?;
    print(&String::from_utf8_lossy(&text))?;
    if expectations.is_none() {
        return Ok(outcome(&sum));
    }
    let held = sum.cells.iter().filter_map(|cell| {
        Some(JudgedCell {
            client: &cell.client,
            fault: &cell.fault,
            expectation: cell.expectation.as_ref()?,
            replay: cell.seed_to_show().map(|seed| sum.replay(cell, seed)),
        })
    });
    Ok(if expect::log_deviations(held) { Outcome::Violated } else { Outcome::AsExpected })
}

fn outcome(sum: &Sweep) -> Outcome {
    if sum.cells.iter().any(Cell::has_open_finding) {
        Outcome::Violated
    } else if sum.cells.iter().any(|cell| cell.valid == 0 && cell.violated == 0) {
        Outcome::Unknown
    } else {
        Outcome::AsExpected
    }
}

impl From<FailedRun> for Failure {
    fn from(run: FailedRun) -> Failure {
        Failure::Engine { seed: run.seed.0, client: run.client, fault: run.fault, error: run.error }
    }
}

fn measured(progress: &Progress, jobs: usize) -> Measured {
    let per_second = progress.runs_here() as f64 / progress.running().as_secs_f64().max(1e-9);
    let round = |rate: f64| (rate * 10.0).round() / 10.0;
    Measured {
        runs_per_second: Some(round(per_second)),
        runs_per_second_per_core: Some(round(per_second / jobs as f64)),
        wall_ms: Some(progress.elapsed().as_millis() as u64),
    }
}

struct Watch<'s> {
    spec: &'s SweepSpec,
    progress: Progress,
    deadline: Option<Instant>,
    checkpoint: Option<CheckpointFile>,
}

impl Watch<'_> {
    /// Ends the display, and reports what the sweep left out.
    fn finish(&self, sum: &Sweep) {
        self.progress.finish();
        if self.is_late() {
            note_end_of_budget(self.spec, sum);
        }
        note_unminimized(self.spec, sum);
    }

    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| clock() >= deadline)
    }
}

impl Listener for Watch<'_> {
    fn run_done(&self, facts: &RunFacts, _: Seed) {
        self.progress.run_done(facts.verdict == Verdict::Violated);
        if self.is_late() {
            STOP.ask();
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn report_stage(&self, stage: Stage, done: usize, of: usize) {
        let what = match stage {
            Stage::Confirming => "confirmed under turmoil",
            Stage::Explaining => "minimized and explained",
        };
        self.progress.report_stage(what, done, of);
    }

    fn added(&self, sum: &dyn Fn() -> Sweep) {
        let _writing = MEMORY.writing();
        if let Some(file) = &self.checkpoint
            && file.offer(&|| json(self.spec, sum())).is_err()
        {
            STOP.ask();
        }
    }
}
