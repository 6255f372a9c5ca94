//! `fencepost explore`: every plan of a stated size, a counterexample or a certificate.

mod ahead;
mod ask;
mod check;
mod diff;

use super::arguments::ExploreArguments;
use super::interrupt::Interrupt;
use super::options::{format, jobs, view};
use super::output::{page, print, tell};
use super::progress::{Progress, Talk, clock};
use super::{Failure, Outcome};
use crate::diagnosis::diagnose;
use crate::engine::{Engine, EngineError};
use crate::run::verdicts::{Findings, report};
use crate::studies::explore::certificate::{certificate, unfinished};
use crate::studies::explore::{self, Answer, Bounds, Exploration, FailedPlan, Planned, Sum};
use crate::studies::sweep::Stop;
use ask::{bounds, command};
use fencepost_reports::documents::certificate::{self, unfinished as partial};
use fencepost_reports::{Diagnosis, Stages};

/// Asked for by Ctrl-C and SIGTERM.
static STOP: Stop = Stop::new();
/// Which of the two it was.
static INTERRUPT: Interrupt = Interrupt::new();

/// Enumerates the plans, and prints a counterexample or a certificate; or checks a certificate, or
/// compares two.
pub(crate) fn explore(arguments: &ExploreArguments) -> Result<Outcome, Failure> {
    let view = view(certificate::VIEWS, &arguments.format)?;
    if let Some(path) = &arguments.check {
        return check::check(path, arguments);
    }
    if let Some(paths) = &arguments.diff {
        return diff::diff(paths);
    }
    let bounds = bounds(arguments)?;
    INTERRUPT.listen(&STOP)?;
    let started = clock();
    let jobs = jobs(arguments.jobs);
    let mut work = Exploration::unplaced(&bounds, jobs);
    let survey = work.survey(&STOP)?;
    if !arguments.yes {
        ahead::asks(&survey, jobs)?;
    }
    if !arguments.quiet {
        tell(format_args!("placing the first faults of {}", ahead::in_all(&survey, jobs)));
    }
    work.place_all(&STOP)?;
    let survey = survey.with_singles(work.singles());
    let about = if bounds.faults < 2 { "" } else { "about " };
    let runs = u64::try_from(survey.all_runs()).unwrap_or(u64::MAX);
    if !arguments.quiet {
        tell(format_args!("{about}{runs} runs"));
    }
    let watch = Watch(Progress::new(runs, 0, talk(arguments)));
    let answer = work.explore(&watch, &STOP);
    watch.0.finish();
    match answer? {
        Answer::Counterexample(planned) => counterexample(arguments, &bounds, &work, &planned),
        Answer::Stopped(sum) => {
            let reason = format!("stopped after {} of {about}{runs} runs", sum.all_runs());
            print_partial(arguments, &bounds, &work, &sum, &reason)?;
            Ok(INTERRUPT.outcome().unwrap_or(Outcome::Unknown))
        }
        Answer::Quiet(quiet) if quiet.sum.valid == 0 => {
            print_partial(arguments, &bounds, &work, &quiet.sum, "no run exercised the lock")?;
            Ok(Outcome::Unknown)
        }
        Answer::Quiet(quiet) => {
            let certificate = certificate::Certificate::sealed(certificate(&bounds, &work, &quiet));
            print(&view.write(&certificate.map_err(Failure::wrong)?).map_err(Failure::wrong)?)?;
            if !arguments.quiet {
                let (runs, took) = (quiet.sum.all_runs(), started.elapsed());
                tell(format_args!("{runs} runs in {:.1} s", took.as_secs_f64()));
            }
            Ok(Outcome::AsExpected)
        }
    }
}

/// The report of the plan that breaks a rule. It is run again under turmoil, and the history is the
/// same.
fn counterexample(
    arguments: &ExploreArguments,
    bounds: &Bounds,
    work: &Exploration<'_>,
    planned: &Planned,
) -> Result<Outcome, Failure> {
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
    let facts = Findings { spec: &spec, outcome: &outcome }.facts_shown_by(shown_by);
    let diagnosis = match arguments.no_shrink {
        true => Diagnosis::default(),
        false => diagnose(&spec, &facts),
    };
    if !arguments.quiet {
        let faults = match planned.plan.faults.len() {
            0 => "without a fault",
            1 => "with one fault, and none without",
            _ => "with two faults, and none with one",
        };
        tell(format_args!("counterexample: a plan {faults}; {}", work.conditions()[planned.base]));
    }
    let format = format(&arguments.format)?;
    let run = Stages { diagnosis, ..facts.into() };
    let whole = report(bounds.seed, Engine::Turmoil, &spec.scenario, vec![run.into()]);
    let mut text = Vec::new();
    format.write_run_in(page(false), &whole, &mut text).map_err(Failure::Output)?;
    print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::of_runs(&whole.runs))
}

fn print_partial(
    arguments: &ExploreArguments,
    bounds: &Bounds,
    work: &Exploration<'_>,
    sum: &Sum,
    reason: &str,
) -> Result<(), Failure> {
    let view = view(partial::VIEWS, &arguments.format)?;
    let partial = unfinished(bounds, work, sum, reason);
    print(&view.write(&partial).map_err(Failure::wrong)?)
}

fn talk(arguments: &ExploreArguments) -> Talk {
    if arguments.quiet { Talk::Quiet } else { Talk::Progress }
}

struct Watch(Progress);

impl explore::Progress for Watch {
    fn run_done(&self, is_violated: bool) {
        self.0.run_done(is_violated);
    }
}

impl From<FailedPlan> for Failure {
    fn from(FailedPlan { planned, error }: FailedPlan) -> Failure {
        let plan = serde_json::to_string(&planned.plan).unwrap_or_default();
        Failure::wrong(format!("base run {}, plan {plan}: {error}", planned.base))
    }
}
