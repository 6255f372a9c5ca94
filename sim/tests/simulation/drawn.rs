use fencepost::run::verdicts::FinishedRun;
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_clients::{Definition, find};
use fencepost_faults::Seed;
use fencepost_reports::{History, RunFacts, Violation, judge};
use std::rc::Rc;

pub(crate) fn drawn(
    client: &str,
    fault: &str,
    seed: u64,
    scenario: impl Into<Rc<Scenario>>,
) -> RunSpec {
    let definition = find(client).unwrap_or_else(|| panic!("{client} is not in the table"));
    drawn_of(definition, fault, seed, scenario)
}

pub(crate) fn drawn_of(
    client: &'static Definition,
    fault: &str,
    seed: u64,
    scenario: impl Into<Rc<Scenario>>,
) -> RunSpec {
    RunSpec::draw(Seed(seed), client, &fault.parse().unwrap(), scenario.into())
}

pub(crate) fn history(spec: &RunSpec) -> History {
    spec.run(Engine::Fast).expect("the run comes to its end").history
}

pub(crate) fn violations(spec: &RunSpec) -> Vec<Violation> {
    judge(&history(spec)).violations
}

pub(crate) fn facts(spec: &RunSpec) -> RunFacts {
    let outcome = spec.run(Engine::Fast).expect("the run comes to its end");
    FinishedRun { spec, outcome: &outcome }.facts()
}
