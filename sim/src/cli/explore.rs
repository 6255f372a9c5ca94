//! `fencepost explore`: tries the plans within bounds, or checks or compares certificates.

mod check;
mod conclude;
mod cost;
mod diff;
mod merge;
mod request;

use super::arguments::ExploreArguments;
use super::checkpoint_file::CheckpointFile;
use super::interrupt::Interrupt;
use super::output::{log, page, print, read_file, require_writable};
use super::progress::{Earlier, Progress, Verbosity, clock};
use super::{Failure, Outcome};
use crate::diagnosis::diagnose_enumerated;
use crate::engine::{Engine, EngineError};
use crate::run::verdicts::{FinishedRun, report};
use crate::setup::shard::shard;
use crate::studies::explore::partial::resumed;
use crate::studies::explore::{
    self, Answer, Exploration, FailedPlan, InvalidBounds, Ledger, Planned, Survey, Units,
};
use crate::studies::sweep::Stop;
use conclude::{Formats, Order};
use fencepost_reports::documents::certificate::read_unfinished;
use fencepost_reports::show::format::Detail;
use fencepost_reports::summary::sweep::Shard;
use fencepost_reports::{Diagnosis, Stages};
pub(super) use merge::merge_explorations;
use request::{bounds, command};
use std::time::Duration;

static STOP: Stop = Stop::new();
static INTERRUPT: Interrupt = Interrupt::new();

pub(crate) fn explore(arguments: &ExploreArguments) -> Result<Outcome, Failure> {
    let formats = Formats::named(&arguments.format)?;
    if let Some(path) = &arguments.check {
        return check::check(path, arguments);
    }
    if let Some(paths) = &arguments.diff {
        return diff::diff(paths);
    }
    if let Some(program) = &arguments.program {
        return Err(Failure::wrong(InvalidBounds::Program(program.clone())));
    }
    let bounds = bounds(arguments)?;
    let shard = shard(arguments.shard, |name| std::env::var(name).ok()).map_err(Failure::wrong)?;
    let mut work = Exploration::unplaced(&bounds, arguments.jobs.count());
    let order = Order { bounds: &bounds, conditions: work.conditions(), shard, formats };
    let start = start(arguments, &order)?;
    let checkpoint = arguments.checkpoint.as_deref();
    checkpoint.map_or(Ok(()), |path| require_writable("--checkpoint", path))?;
    INTERRUPT.listen(&STOP)?;
    let survey = surveyed(arguments, &order, &work)?;
    work.place_all(&STOP)?;
    if STOP.is_asked() {
        let units = if order.is_deep() { Units::new() } else { work.units() };
        let ledger = start.unwrap_or_else(|| Ledger::new(units));
        let reason = Some("stopped before the first run");
        order.conclude(&ledger, reason)?;
        return Ok(INTERRUPT.outcome().unwrap_or(Outcome::Unknown));
    }
    let start = start.filter(|ledger| ledger.sum().all_runs() > 0);
    let start = start.unwrap_or_else(|| Ledger::new(work.units()));
    if *start.units() != work.units() {
        return Err(Failure::wrong(
            "--resume: the checkpoint belongs to another exploration: use the options of that \
             exploration, or start over without --resume",
        ));
    }
    let runs = work.counted(&survey, shard).all_runs();
    run_all(arguments, &order, &work, start, u64::try_from(runs).unwrap_or(u64::MAX))
}

fn surveyed(
    arguments: &ExploreArguments,
    order: &Order<'_>,
    work: &Exploration<'_>,
) -> Result<Survey, Failure> {
    let jobs = arguments.jobs.count();
    let survey = work.survey(&STOP)?;
    let share = survey.of_shards(order.shard.count);
    if !arguments.yes {
        cost::require_confirmation(&share, jobs)?;
    }
    if arguments.quiet.verbosity() == Verbosity::Progress {
        let placing = if order.is_deep() { "placing the first faults for " } else { "" };
        log(format_args!("{placing}{}", cost::total_cost(&share, jobs)));
    }
    Ok(survey)
}

fn run_all(
    arguments: &ExploreArguments,
    order: &Order<'_>,
    work: &Exploration<'_>,
    start: Ledger,
    runs: u64,
) -> Result<Outcome, Failure> {
    let started = clock();
    let about = if order.bounds.most().depth() < 1 { "" } else { "about " };
    if arguments.quiet.verbosity() == Verbosity::Progress && order.is_deep() {
        log(format_args!("{about}{runs} runs"));
    }
    let every = arguments.checkpoint_every.map(Duration::from);
    let file = arguments.checkpoint.clone().map(|path| CheckpointFile::new(path, every));
    let earlier = Earlier { runs: start.sum().all_runs(), violated: 0 };
    let progress = Progress::new(runs, arguments.quiet.verbosity()).resuming(earlier);
    let watch = Watch { progress, order: Some(order), file };
    let answer = work.explore(order.shard, start, &watch, &STOP);
    watch.progress.finish();
    let (ledger, reason) = match answer? {
        Answer::Counterexample(planned) => return counterexample(arguments, order, work, &planned),
        Answer::Stopped(ledger) => {
            let done = ledger.sum().all_runs();
            (ledger, Some(format!("stopped after {done} of {about}{runs} runs")))
        }
        Answer::Quiet(ledger) => (ledger, None),
    };
    // Print the result before the last checkpoint, because the write may fail on a full disk.
    let outcome = order.conclude(&ledger, reason.as_deref())?;
    watch.keep(&ledger)?;
    if reason.is_some() {
        return Ok(INTERRUPT.outcome().unwrap_or(outcome));
    }
    if arguments.quiet.verbosity() == Verbosity::Progress {
        let (runs, took) = (watch.progress.runs_here(), started.elapsed());
        log(format_args!("{runs} runs in {:.1} s", took.as_secs_f64()));
    }
    Ok(outcome)
}

fn start(arguments: &ExploreArguments, order: &Order<'_>) -> Result<Option<Ledger>, Failure> {
    let checkpoint = arguments.checkpoint.as_ref().filter(|path| arguments.resume && path.exists());
    let Some(path) = checkpoint else { return Ok(None) };
    let wrong = |error: &dyn std::fmt::Display| Failure::content(path, error);
    let partial =
        read_unfinished(&read_file(path, "a checkpoint")?).map_err(|error| wrong(&error))?;
    let ledger = resumed(&partial, (order.bounds, &order.conditions), order.shard);
    ledger.map(Some).map_err(|error| wrong(&error))
}

fn counterexample(
    arguments: &ExploreArguments,
    order: &Order<'_>,
    work: &Exploration<'_>,
    planned: &Planned,
) -> Result<Outcome, Failure> {
    let bounds = order.bounds;
    let spec = work.spec(planned);
    let failed = |error| FailedPlan { planned: planned.clone(), error };
    let outcome = spec.run(Engine::Turmoil).map_err(failed)?;
    let fast = spec.run(Engine::Fast).map_err(failed)?;
    if fencepost_reports::digest(&fast.history) != fencepost_reports::digest(&outcome.history) {
        let events = fast.history.events.iter().zip(&outcome.history.events);
        let first = events.take_while(|(a, b)| a == b).count() as u64;
        return Err(failed(EngineError::Differ(first)).into());
    }
    let shown_by = command(bounds);
    let facts = FinishedRun { spec: &spec, outcome: &outcome }.facts_shown_by(shown_by);
    let diagnosis = match arguments.no_shrink {
        true => Diagnosis::default(),
        false => diagnose_enumerated(&spec, &facts),
    };
    if arguments.quiet.verbosity() == Verbosity::Progress {
        let faults = match planned.level.faults {
            0 => "with no fault",
            1 => "with one fault (no plan with fewer faults breaks a rule)",
            _ => "with two faults (no plan with fewer faults breaks a rule)",
        };
        let late = match planned.level.delays {
            0 => "",
            1 => " and one message delayed within the latency range",
            _ => " and two messages delayed within the latency range",
        };
        let Shard { index, count } = order.shard;
        let among = match order.shard {
            Shard::WHOLE => String::new(),
            _ => format!(" in shard {index} of {count}"),
        };
        let conditions = &order.conditions[planned.base];
        log(format_args!("counterexample: a plan {faults}{late}{among}; {conditions}"));
    }
    let run = Stages { diagnosis, ..facts.into() };
    let whole = report(bounds.seed, Engine::Turmoil, &spec.scenario, vec![run.into()]);
    let mut text = Vec::new();
    let format = order.formats.counterexample;
    format.write_run_in(page(Detail::Brief), &whole, &mut text).map_err(Failure::Output)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::of_runs(&whole.runs))
}

struct Watch<'w> {
    progress: Progress,
    order: Option<&'w Order<'w>>,
    file: Option<CheckpointFile>,
}

impl Watch<'_> {
    fn keep(&self, ledger: &Ledger) -> Result<(), Failure> {
        let (Some(file), Some(order)) = (&self.file, self.order) else { return Ok(()) };
        file.write(&|| json(order, ledger))?;
        file.failure().map_or(Ok(()), Err)
    }
}

fn json(order: &Order<'_>, ledger: &Ledger) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&order.partial(ledger, "a checkpoint")?)
}

impl explore::Progress for Watch<'_> {
    fn run_done(&self, is_violated: bool) {
        self.progress.run_done(is_violated);
    }

    fn added(&self, ledger: &Ledger) {
        if let (Some(file), Some(order)) = (&self.file, self.order)
            && file.offer(&|| json(order, ledger)).is_err()
        {
            STOP.ask();
        }
    }
}

impl From<FailedPlan> for Failure {
    fn from(FailedPlan { planned, error }: FailedPlan) -> Failure {
        let plan = serde_json::to_string(&planned.plan).unwrap_or_default();
        Failure::wrong(format!("base run {}, plan {plan}: {error}", planned.base))
    }
}
