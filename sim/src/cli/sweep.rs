//! `fencepost sweep`: many seeds, added up. Must never know how one is run.

use super::arguments::SweepArguments;
use super::options::Options;
use super::output::print;
use super::{Failure, Outcome};
use crate::Engine;
use crate::shard::shard;
use crate::sweep::{FailedRun, Listener, Stop, SweepSpec, sweep as run_sweep};
use fencepost_faults::Seed;
use fencepost_reports::sweep::{Measured, SeedRange, Sweep};
use fencepost_reports::{RunReport, Verdict};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Asked for by Ctrl-C and SIGTERM: what is done by then is added up and printed.
static STOP: Stop = Stop::new();

/// Runs the seeds and prints the sum.
pub(crate) fn sweep(arguments: &SweepArguments) -> Result<Outcome, Failure> {
    let options = Options::read(&arguments.common, Engine::Fast)?;
    let seeds = SeedRange { from: Seed(arguments.seeds.0), to: Seed(arguments.seeds.1) };
    let spec = SweepSpec {
        cells: options.cells.clone(),
        scenario: options.scenario.clone(),
        engine: options.engine,
        seeds,
        shard: shard(arguments.shard, |name| std::env::var(name).ok()).map_err(Failure::wrong)?,
        jobs: jobs(arguments.jobs),
        fail_fast: arguments.fail_fast,
        explains: !arguments.common.no_shrink,
    };
    // A second handler cannot be set in one process: then the first one serves.
    let _ = ctrlc::set_handler(|| STOP.ask());
    let progress = Progress::new(&spec, arguments);
    let started = clock();
    let result = run_sweep(&spec, &progress, &STOP).map_err(failed);
    progress.bar.finish_and_clear();
    let mut sum = result?;
    sum.measured = measured(&sum, started.elapsed(), spec.jobs);
    let mut text = Vec::new();
    options.format.write_sweep(&sum, &mut text).map_err(Failure::Output)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(outcome(&sum))
}

/// Violated if any cell is; unknown if some cell has no run that exercised anything.
pub(crate) fn outcome(sum: &Sweep) -> Outcome {
    if sum.cells.iter().any(|cell| cell.violated > 0) {
        Outcome::Violated
    } else if sum.cells.iter().any(|cell| cell.valid == 0) {
        Outcome::Unknown
    } else {
        Outcome::AsExpected
    }
}

fn jobs(asked: Option<u16>) -> usize {
    asked.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from)
}

fn failed(run: FailedRun) -> Failure {
    Failure::Engine { seed: run.seed.0, client: run.client, fault: run.fault, error: run.error }
}

#[expect(clippy::disallowed_methods, reason = "how long a sweep takes is told to people and never enters a history")]
fn clock() -> std::time::Instant {
    std::time::Instant::now()
}

fn measured(sum: &Sweep, took: Duration, jobs: usize) -> Measured {
    let runs: u64 = sum.cells.iter().map(|cell| cell.runs).sum();
    let per_second = runs as f64 / took.as_secs_f64().max(1e-9);
    let round = |rate: f64| (rate * 10.0).round() / 10.0;
    Measured {
        runs_per_second: Some(round(per_second)),
        runs_per_second_per_core: Some(round(per_second / jobs as f64)),
        wall_ms: Some(took.as_millis() as u64),
    }
}

/// Shows how far the sweep has come, on stderr.
struct Progress {
    bar: ProgressBar,
    violated: AtomicU64,
    budget: Option<Duration>,
    started: std::time::Instant,
}

impl Progress {
    fn new(spec: &SweepSpec, arguments: &SweepArguments) -> Progress {
        let runs = spec.shard.slice(spec.seeds).len() * spec.cells.len() as u64;
        let target = if arguments.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(runs), target);
        let style = ProgressStyle::with_template("{bar:32} {pos}/{len} runs  {per_sec}  {msg}  {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let budget = arguments.time_budget.map(Duration::from);
        Progress { bar, violated: AtomicU64::new(0), budget, started: clock() }
    }
}

impl Listener for Progress {
    fn run_done(&self, report: &RunReport, _: Seed) {
        self.bar.inc(1);
        if report.verdict == Verdict::Violated {
            let violated = self.violated.fetch_add(1, Ordering::Relaxed) + 1;
            self.bar.set_message(format!("{violated} violated"));
        }
        if self.budget.is_some_and(|budget| self.started.elapsed() > budget) {
            STOP.ask();
        }
    }
}
