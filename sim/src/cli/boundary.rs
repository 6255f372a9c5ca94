use super::arguments::BoundaryArguments;
use super::lock_scripts::add_scripts;
use super::options::{
    add_real_servers, client, coordinator, families, kind, own_locks, programs, view,
};
use super::output::print;
use super::progress::Progress;
use super::scenario_file::scenario;
use super::{Failure, Outcome};
use crate::run::fit::fits;
use crate::setup::span::Span;
use crate::studies::boundary::quantity::{QUANTITIES, Varied, find};
use crate::studies::boundary::{Search, SearchError};
use crate::studies::sweep::{Listener, Stop};
use fencepost_clients::Definition;
use fencepost_faults::{Families, Seed};
use fencepost_reports::documents::boundary::{Unit, VIEWS};
use fencepost_reports::summary::sweep::SeedRange;
use fencepost_reports::{RunFacts, Verdict};

const STEPS_OF_RANGE: u64 = 256;

const SEEDS: (u64, u64) = (0, 200);

const TRACED_RUNS: u64 = 400;

pub(crate) fn boundary(arguments: &BoundaryArguments) -> Result<Outcome, Failure> {
    let view = view(VIEWS, &arguments.format)?;
    let search = search_of(arguments)?;
    let watch =
        Watch(Progress::new(search.probes_max() * search.seeds.len(), arguments.quiet.verbosity()));
    let result = search.search(&watch, &Stop::new());
    watch.0.finish();
    let report = result?;
    print(&view.write(&report).map_err(Failure::wrong)?)?;
    let exercised = report.probes.iter().any(|probe| probe.exercised > 0);
    Ok(match report.probes.iter().any(|probe| probe.violated > 0) {
        true => Outcome::Violated,
        false if exercised => Outcome::AsExpected,
        false => Outcome::Unknown,
    })
}

fn search_of(arguments: &BoundaryArguments) -> Result<Search, Failure> {
    let quantity = find(&arguments.vary).ok_or_else(|| {
        let names: Vec<&str> = QUANTITIES.iter().map(|quantity| quantity.name).collect();
        Failure::wrong(format!("--vary '{}': expected one of {}", arguments.vary, names.join(", ")))
    })?;
    let families = one_fault(arguments, quantity)?;
    let mut scenario = scenario(&arguments.deployment)?;
    let coordinator = coordinator(arguments.coordinator.as_deref())?;
    scenario.programs = programs(&arguments.programs, coordinator)?;
    add_scripts(&arguments.locks, &mut scenario)?;
    let client = match (&arguments.client, own_locks(&scenario).as_slice()) {
        (Some(name), _) => client(name)?,
        (None, [own]) => own,
        (None, all) => {
            let names: Vec<&str> = all.iter().map(|own| own.name).collect();
            let kind = if scenario.programs.is_empty() { "lock" } else { "program" };
            return Err(Failure::wrong(format!(
                "--{kind} {}: expected only one {kind}, because `boundary` searches for \
                 one threshold",
                names.join(", ")
            )));
        }
    };
    refuse_elsewhere(quantity, client)?;
    add_real_servers(&arguments.servers, &[(client, families.clone())], &mut scenario)?;
    fits(&scenario, client, &families).map_err(Failure::wrong)?;
    let (from, to) = arguments.seeds.unwrap_or(SEEDS);
    let mut search = Search {
        client,
        families,
        scenario,
        quantity,
        kind: arguments.kind.as_deref().map(kind).transpose()?,
        seeds: SeedRange { from: Seed(from), to: Seed(to) },
        range: (0, 1),
        step: 1,
        parts: u64::from(arguments.parts),
        jobs: arguments.jobs.count(),
    };
    search.range = match &arguments.between {
        Some(text) => range(text, quantity.unit)?,
        None => (quantity.range)(&search.facts()?),
    };
    search.step = match &arguments.step {
        Some(text) => value(text, quantity.unit)?.max(1),
        None => ((search.range.1 - search.range.0) / STEPS_OF_RANGE)
            .max(if quantity.unit == Unit::Us { 1_000 } else { 1 }),
    };
    if arguments.seeds.is_none() && search.scenario.is_traced(search.client) {
        search.seeds.to = Seed((TRACED_RUNS / search.probes_max()).max(1));
    }
    Ok(search)
}

fn one_fault(arguments: &BoundaryArguments, quantity: &Varied) -> Result<Families, Failure> {
    let mut all = families(std::slice::from_ref(&arguments.fault))?;
    let families = all.remove(0);
    let fits = quantity.families.is_empty()
        || families.chosen().any(|family| quantity.families.contains(&family));
    if fits {
        return Ok(families);
    }
    let expected: Vec<&str> = quantity.families.iter().map(|family| family.name()).collect();
    Err(Failure::wrong(format!(
        "--fault '{families}' does not work with --vary {}: expected one of {}",
        quantity.name,
        expected.join(", ")
    )))
}

fn refuse_elsewhere(quantity: &Varied, client: &Definition) -> Result<(), Failure> {
    match quantity.only_on.filter(|only| *only != client.deployment.coordinator()) {
        None => Ok(()),
        Some(only) => Err(Failure::wrong(format!(
            "--vary {} has no effect on '{}': expected a lock on {}",
            quantity.name,
            client.name,
            only.name()
        ))),
    }
}

fn range(text: &str, unit: Unit) -> Result<(u64, u64), Failure> {
    let example = match unit {
        Unit::Us => "1s..12s",
        Unit::Ppm => "0..30000",
    };
    let wrong = || {
        Failure::wrong(format!("--between '{text}': expected A..B with A below B, like {example}"))
    };
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let (from, to) = (value(from, unit)?, value(to, unit)?);
    if from < to { Ok((from, to)) } else { Err(wrong()) }
}

fn value(text: &str, unit: Unit) -> Result<u64, Failure> {
    match unit {
        Unit::Us => text.parse::<Span>().map(|span| span.0.0).map_err(Failure::wrong),
        Unit::Ppm => {
            let number = text.strip_suffix("ppm").unwrap_or(text);
            number.parse().map_err(|_| {
                Failure::wrong(format!("value '{text}': expected parts per million, like 10000"))
            })
        }
    }
}

struct Watch(Progress);

impl Listener for Watch {
    fn run_done(&self, facts: &RunFacts, _: Seed) {
        self.0.run_done(facts.verdict == Verdict::Violated);
    }
}

impl From<SearchError> for Failure {
    fn from(error: SearchError) -> Failure {
        match error {
            SearchError::Run(run) => run.into(),
            SearchError::Value { .. } => Failure::wrong(error),
        }
    }
}
