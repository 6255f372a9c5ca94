//! Whether a violation that the simulated servers show is one of the real servers, too: its minimal
//! plan, played against both.

use crate::diagnosis::{Target, minimise};
use crate::engine::Engine;
use crate::hosts::programs::record::Life;
use crate::run::RunSpec;
use crate::setup::scenario::{RealServers, Scenario};
use crate::studies::seed::{FailedRun, Ran};
use fencepost_clients::Definition;
use fencepost_faults::{Families, Seed};
use fencepost_reports::{Cause, Kind, Violation, judge};
use std::rc::Rc;

/// A violation of the simulated servers, made minimal.
pub struct Found {
    /// The seed of the run that showed it.
    pub seed: Seed,
    /// The rule that is broken.
    pub kind: Kind,
    /// Why.
    pub cause: Cause,
    /// How many faults its minimal plan has.
    pub faults: usize,
    /// What the real servers do under that plan.
    pub real: Real,
}

/// What real servers do under the minimal plan of a violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Real {
    /// The same rule is broken for the same cause.
    Same,
    /// Another rule is broken, or for another cause.
    Another {
        /// Which rule.
        kind: Kind,
        /// And why.
        cause: Cause,
    },
    /// No rule is broken.
    None,
    /// The plan cannot be played: why.
    CannotBePlayed(String),
}

/// The first violation that simulated servers show in these seeds, against real servers. `None` if
/// they show none.
pub fn reality(
    client: &'static Definition,
    families: &Families,
    (scenario, binaries): (&Rc<Scenario>, &RealServers),
    seeds: impl Iterator<Item = u64>,
) -> Result<Option<Found>, FailedRun> {
    for seed in seeds.map(Seed) {
        let spec = RunSpec::draw(seed, client, families, scenario.clone());
        let ran = Ran::of(spec, Engine::Fast)?;
        let facts = ran.facts();
        let Some(violation) = facts.violations.first() else { continue };
        return Ok(compared(&ran.spec, violation, binaries));
    }
    Ok(None)
}

fn compared(spec: &RunSpec, violation: &Violation, binaries: &RealServers) -> Option<Found> {
    let (kind, cause) = (violation.kind, violation.cause);
    let minimal = minimise(spec, Target { kind, cause })?.spec;
    let faults = minimal.plan.faults.len();
    let scenario = Scenario { binaries: binaries.clone(), ..(*minimal.scenario).clone() };
    let real = played(&RunSpec { scenario: Rc::new(scenario), ..minimal }, (kind, cause));
    Some(Found { seed: spec.seed, kind, cause, faults, real })
}

fn played(spec: &RunSpec, looked_for: (Kind, Cause)) -> Real {
    if let Err(error) = spec.validate() {
        return Real::CannotBePlayed(error.to_string());
    }
    let outcome = match spec.run(Engine::Fast) {
        Ok(outcome) => outcome,
        Err(error) => return Real::CannotBePlayed(error.to_string()),
    };
    if let Some(why) = outcome.servers.iter().find_map(Life::failure) {
        return Real::CannotBePlayed(why);
    }
    let shown = judge(&outcome.history).violations;
    let shown: Vec<(Kind, Cause)> = shown.iter().map(|one| (one.kind, one.cause)).collect();
    match shown.first() {
        _ if shown.contains(&looked_for) => Real::Same,
        Some(&(kind, cause)) => Real::Another { kind, cause },
        None => Real::None,
    }
}
