//! Generates the pages of `docs/gallery`. Each page shows an anomaly in the run of a pinned seed.

mod chubby;
mod etcd;
pub mod exhibit;
pub mod exhibits;
mod gemfire;
mod memcached;
mod mysql;
mod postgresql;
mod protocols;
mod redis;
mod steps;
mod zookeeper;

use crate::Engine;
use crate::diagnosis::{Minimal, Target, cause_beyond, minimise};
use crate::run::RunSpec;
use crate::run::parallel::in_parallel;
use crate::run::verdicts::FinishedRun;
use crate::setup::scenario::Scenario;
use crate::studies::seed::Ran;
use crate::studies::sweep::{FailedRun, Silent, Stop, SweepSpec, count};
use exhibit::{Exhibit, Fixed};
use exhibits::all;
use fencepost_clients::find;
use fencepost_faults::shrink::Magnitude;
use fencepost_faults::{Families, Micros, Seed};
use fencepost_reports::documents::gallery::{Page, page};
use fencepost_reports::summary::sweep::{SeedRange, Shard};
use fencepost_reports::{Cell, RunReport, Stages};
use std::rc::Rc;

const REMEDY_SEEDS: u64 = 20;
/// Smallest number of violations from which a remedy's effect can be judged.
const FEW_VIOLATIONS: u64 = 5;
const RARE_REMEDY_SEEDS: u64 = 400;

pub fn pages(jobs: usize) -> Result<Vec<(String, String)>, GalleryError> {
    let made = in_parallel(jobs, &all(), |exhibit| {
        Ok((format!("{}.md", exhibit.name), page_of(exhibit)?))
    });
    std::iter::once(Ok(("README.md".to_owned(), index()))).chain(made).collect()
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GalleryError {
    #[error(
        "the seed of exhibit {0} no longer shows the anomaly: pin another seed in \
         sim/src/studies/gallery"
    )]
    NotShown(&'static str),
    #[error("exhibit {exhibit}: {what}")]
    Wrong { exhibit: &'static str, what: String },
    #[error("seed {seed}, client {client}, fault {fault}: \
     {error}", seed = .0.seed, client = .0.client, fault = .0.fault, error = .0.error)]
    Run(FailedRun),
}

fn index() -> String {
    let mut text =
        "# Gallery\n\nEach page shows one way in which a lock can fail: the question, the \
                    protocol, the timeline of the smallest run that shows the failure, and the \
                    remedy. `fencepost gallery --out docs/gallery` makes each page from a pinned \
                    seed. The commands at the end of a page print its smallest run again, together \
                    with those of the seed's other violations.\n\n| anomaly | question | lock | \
                    fault | what breaks |\n| --- | --- | --- | --- | --- |\n"
            .to_owned();
    for exhibit in all() {
        text.push_str(&format!(
            "| [{}]({}.md) | {} | {} | {} | {} by {} |\n",
            exhibit.title,
            exhibit.name,
            exhibit.question,
            exhibit.run.client,
            exhibit.run.fault,
            exhibit.target.kind,
            exhibit.target.cause
        ));
    }
    text
}

fn page_of(exhibit: &'static Exhibit) -> Result<String, GalleryError> {
    let spec = spec(exhibit)?;
    let target = exhibit.target;
    let not_shown = || GalleryError::NotShown(exhibit.name);
    let minimal = minimise(&spec, target).ok_or_else(not_shown)?;
    let run = report(&minimal.spec)?;
    let shown = |one: &&fencepost_reports::ViolationReport| {
        one.violation.kind == target.kind && one.violation.cause == target.cause
    };
    let violation = &run.violations.iter().find(shown).ok_or_else(not_shown)?.violation;
    let original = FinishedRun::command(&spec);
    let replay = format!(
        "{original} --format json > run.json\nfencepost replay --minimal --verbose run.json"
    );
    let facts = Page {
        title: exhibit.title,
        question: exhibit.question,
        protocol: &exhibit.protocol,
        seen: format!("`{}` {} (seed {})", exhibit.run.client, under(exhibit), exhibit.run.seed),
        replay,
        workload: workload(&minimal),
        margins: margins(&minimal, target),
        remedy: exhibit.remedy,
        tried: exhibit.fixed.as_ref().map(|fixed| tried(exhibit, fixed)).transpose()?,
        source: exhibit.source,
    };
    Ok(page(&facts, &run, violation))
}

pub(crate) fn spec(exhibit: &'static Exhibit) -> Result<RunSpec, GalleryError> {
    let wrong = |what: String| GalleryError::Wrong { exhibit: exhibit.name, what };
    let client = find(exhibit.run.client)
        .ok_or_else(|| wrong(format!("unknown client '{}'", exhibit.run.client)))?;
    let families: Families = exhibit
        .run
        .fault
        .parse()
        .map_err(|error: fencepost_faults::UnknownFamily| wrong(error.to_string()))?;
    let scenario = scenario(exhibit.settings).map_err(wrong)?;
    Ok(RunSpec::draw(Seed(exhibit.run.seed), client, &families, Rc::new(scenario)))
}

fn scenario(settings: &[(&str, &str)]) -> Result<Scenario, String> {
    let value = |text: &str| text.parse::<i64>().map_or_else(|_| text.into(), toml::Value::Integer);
    let table: toml::Table =
        settings.iter().map(|(key, text)| ((*key).to_owned(), value(text))).collect();
    let scenario = Scenario::of_table(table).map_err(|error| error.message().to_owned())?;
    scenario.validate().map_err(|error| error.to_string())?;
    Ok(scenario)
}

fn report(spec: &RunSpec) -> Result<RunReport, GalleryError> {
    let ran = Ran::of(spec.clone(), Engine::Fast).map_err(GalleryError::Run)?;
    Ok(Stages::from(ran.facts()).into())
}

fn under(exhibit: &Exhibit) -> String {
    match exhibit.run.fault {
        "none" => "without faults".to_owned(),
        fault => format!("under `{fault}`"),
    }
}

fn workload(minimal: &Minimal) -> String {
    let scenario = &minimal.spec.scenario;
    let counted =
        |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let processes = counted(u64::from(scenario.processes), "process");
    let processes = processes.replace("processs", "processes");
    let each = if scenario.processes == 1 { "" } else { " each" };
    format!("{processes}, {}{each}.", counted(u64::from(scenario.cycles), "cycle"))
}

fn margins(minimal: &Minimal, target: Target) -> Vec<String> {
    let margin = |found: &fencepost_faults::shrink::Boundary| {
        let not_enough = found.not_enough?;
        let show = |value: i64| match found.magnitude {
            Magnitude::RatePpm => format!("{value} ppm"),
            _ => format!("{}{}", if value < 0 { "-" } else { "" }, Micros(value.unsigned_abs())),
        };
        let is_less = not_enough.unsigned_abs() < found.enough.unsigned_abs();
        let beyond = match (cause_beyond(minimal, target, found), show(not_enough)) {
            (Some(cause), value) => format!("with {value}, the cause is `{cause}`"),
            (None, value) if is_less => format!("{value} is not"),
            (None, value) => format!("{value} is too much"),
        };
        let (magnitude, enough) = (found.magnitude.in_words(), show(found.enough));
        Some(format!("Fault {}: a {magnitude} of {enough} is enough; {beyond}.", found.fault))
    };
    minimal.boundaries.iter().filter_map(margin).collect()
}

/// States the numbers of violations with and without the fix. Uses other seeds, because the pinned
/// seed was selected for its violation.
fn tried(exhibit: &'static Exhibit, fixed: &Fixed) -> Result<String, GalleryError> {
    let broken = |cell: &Cell| cell.violations_by_kind.get(&fixed.kind).copied().unwrap_or(0);
    let without = |seeds| counted(exhibit, (exhibit.run.client, exhibit.settings), seeds);
    let mut seeds = REMEDY_SEEDS;
    let mut before = without(seeds)?;
    if broken(&before) < FEW_VIOLATIONS {
        seeds = RARE_REMEDY_SEEDS;
        before = without(seeds)?;
    }
    let after = counted(exhibit, (fixed.client, fixed.settings), seeds)?;
    let settings: String =
        fixed.settings.iter().map(|(key, value)| format!(" --set {key}={value}")).collect();
    let shows = match broken(&before) + broken(&after) {
        0 => " These runs show no difference.",
        _ => "",
    };
    Ok(format!(
        "Over seeds {}..{} {}, the violation `{}` occurs in {} of {} runs without the remedy and in \
         {} of {} with it (`--client {}{settings}`).{shows}",
        exhibit.run.seed + 1,
        exhibit.run.seed + 1 + seeds,
        under(exhibit),
        fixed.kind,
        broken(&before),
        before.valid + before.violated,
        broken(&after),
        after.valid + after.violated,
        fixed.client
    ))
}

fn counted(
    exhibit: &'static Exhibit,
    (client, settings): (&str, &[(&str, &str)]),
    seeds: u64,
) -> Result<Cell, GalleryError> {
    let wrong = |what: String| GalleryError::Wrong { exhibit: exhibit.name, what };
    let client = find(client).ok_or_else(|| wrong(format!("unknown client '{client}'")))?;
    let spec = SweepSpec {
        cells: vec![(client, spec(exhibit)?.families)],
        scenario: scenario(settings).map_err(wrong)?,
        engine: Engine::Fast,
        seeds: SeedRange {
            from: Seed(exhibit.run.seed + 1),
            to: Seed(exhibit.run.seed + 1 + seeds),
        },
        shard: Shard::WHOLE,
        jobs: 1,
        fail_fast: false,
        explains: false,
        violations_max: 0,
    };
    let mut sum = count(&spec, &Silent, &Stop::new()).map_err(GalleryError::Run)?;
    Ok(sum.cells.remove(0))
}
