use crate::engine::Engine;
use crate::hosts::programs::ran::ran;
use crate::hosts::programs::record::Life;
use crate::hosts::programs::watched::Watched;
use crate::run::fit::usage;
use crate::run::{RunOutcome, RunSpec};
use crate::setup::lengths::{drawn_for, stated};
use crate::setup::scenario::{Hold, OwnServer, Persistence, Scenario, ServerBinary};
use fencepost_faults::{Node, Seed};
use fencepost_reports::explain::literature::Conditions;
use fencepost_reports::record::programs::Ran;
use fencepost_reports::show::format::Needs;
use fencepost_reports::summary::report::{FORMAT, Tool, VERSION};
use fencepost_reports::{
    Recordings, Report, RunContext, RunFacts, RunReport, Turn, What, expected,
};

pub struct FinishedRun<'r> {
    pub spec: &'r RunSpec,
    pub outcome: &'r RunOutcome,
}

impl FinishedRun<'_> {
    pub fn facts(&self) -> RunFacts {
        self.facts_shown_by(FinishedRun::command(self.spec))
    }

    pub fn facts_shown_by(&self, replay: String) -> RunFacts {
        let (spec, outcome) = (self.spec, self.outcome);
        let context = RunContext {
            plan: spec.plan.clone(),
            messages: outcome.messages,
            expected: expected(spec.client.name, &spec.families, conditions(&spec.scenario)),
            lengths: stated(
                &drawn_for(usage(&spec.scenario, spec.client), &spec.families),
                &spec.scenario,
            ),
            programs: outcome.programs.iter().map(Life::report).collect(),
            ran: self.ran(),
            failure: self.failure(),
            failed_server: self.unusable_server(),
            note: self.note(),
            replay,
        };
        let mut facts = RunFacts::new(&outcome.history, context);
        let is_long = facts.violations.iter().any(|one| one.cause.is_long_work());
        let renewed = outcome.watched.as_ref().filter(|_| is_long).and_then(Watched::renewed_note);
        let script = self.script_error().filter(|_| !facts.violations.is_empty());
        let notes: Vec<String> =
            facts.note.take().into_iter().chain(renewed).chain(script).collect();
        facts.note = (!notes.is_empty()).then(|| notes.join("; "));
        facts
    }

    fn unusable_server(&self) -> Option<String> {
        let foreign = self.outcome.programs.iter().find_map(Life::foreign_protocol);
        let failed = || self.outcome.servers.iter().find_map(Life::failure);
        foreign.or_else(failed).or_else(|| self.only_replica())
    }

    /// Returns why the programs could not acquire the lock, if the only server that they knew has
    /// become a replica.
    fn only_replica(&self) -> Option<String> {
        let programs = &self.outcome.programs;
        if programs.is_empty() || programs.iter().any(|life| life.asked_sentinel) {
            return None;
        }
        let first = Node::Redis(1);
        let own = self.outcome.history.events.iter().filter(|event| event.node == first);
        let mut roles = own.filter_map(|event| match event.what {
            What::Turn { turn: turn @ (Turn::Promoted | Turn::Demoted), .. } => Some((turn, event)),
            _ => None,
        });
        let (_, demoted) = roles.next_back().filter(|(turn, _)| *turn == Turn::Demoted)?;
        Some(format!(
            "{first} became a replica at {}, and no process asked a Sentinel for the new primary: \
             connect through FENCEPOST_SENTINELS",
            demoted.time_us
        ))
    }

    fn failure(&self) -> Option<String> {
        let unwatched = self.outcome.watched.as_ref().filter(|watched| !watched.others.is_empty());
        let mut programs = self.outcome.programs.iter();
        let failed = self.unusable_server().or_else(|| programs.find_map(Life::failure));
        let failed = failed.or_else(|| self.script_error());
        failed.or_else(|| unwatched.and_then(Watched::note))
    }

    /// Returns the first script error of a Lua lock. A run with such an error is not valid, and the
    /// error may also be the cause of a violation.
    fn script_error(&self) -> Option<String> {
        let mut scripts = self.spec.scenario.scripts.iter();
        let script = scripts.find(|script| script.name == self.spec.client.name)?;
        let error = script.own_error(&self.outcome.history)?;
        Some(format!("script error: {error}"))
    }

    fn ran(&self) -> Ran {
        let own = self.outcome.servers.iter().filter(|_| !self.own_servers().is_empty());
        let mut ran = ran(self.outcome.programs.iter().chain(own));
        for (_, binary) in self.real_servers() {
            ran.files.insert(binary.path.clone(), binary.sha256.clone());
            ran.versions.insert(binary.path.clone(), format!("{} {}", binary.name, binary.version));
        }
        ran
    }

    fn real_servers(&self) -> impl Iterator<Item = (&String, &ServerBinary)> {
        let own = self.spec.client.deployment.coordinator().name();
        self.spec.scenario.binaries.iter().filter(move |(coordinator, _)| *coordinator == own)
    }

    fn own_servers(&self) -> &[OwnServer] {
        self.spec.scenario.program(self.spec.client).map_or(&[], |program| &program.servers)
    }

    fn note(&self) -> Option<String> {
        let watched = self.outcome.watched.as_ref().and_then(Watched::note);
        let servers = self.real_servers();
        let servers = servers.map(|(coordinator, binary)| binary.described(coordinator));
        let own = (1..).zip(self.own_servers()).map(|(number, server)| {
            let files = server.files.iter().map(|(file, hash)| format!("{file} {hash}"));
            let (command, files) = (server.command.join(" "), files.collect::<Vec<_>>().join(", "));
            let node = Node::Server(number);
            format!("{node} is {}: {command}, SHA-256 of {files}", server.address())
        });
        let all: Vec<String> = servers.chain(own).chain(watched).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    pub fn command(spec: &RunSpec) -> String {
        let lock = match spec.scenario.program(spec.client) {
            Some(program) => program.flags(),
            None => spec.scenario.lock_flags(spec.client),
        };
        let flags = spec.scenario.flags();
        format!("fencepost --seed {} --fault {} {lock}{flags}", spec.seed, spec.families)
    }
}

pub fn recordings(outcome: RunOutcome, needs: Needs) -> Recordings {
    Recordings {
        history: (needs >= Needs::History).then_some(outcome.history),
        trace: outcome.trace.filter(|_| needs >= Needs::Wire),
    }
}

/// Returns the settings on which the literature's verdict for a lock and fault depends.
pub fn conditions(scenario: &Scenario) -> Conditions {
    let survives = scenario.servers.persistence == Persistence::AofAlways
        || scenario.faults.restart_delay.min >= scenario.ttl;
    Conditions {
        always_has_replicas: scenario.needs_replicas(),
        restart_loses: !survives,
        until_validity: scenario.hold == Hold::UntilValidity,
        outlasts_lease: matches!(scenario.hold, Hold::Drawn(hold) if hold.max >= scenario.ttl),
        storage: scenario.storage,
    }
}

pub fn report(seed: Seed, engine: Engine, scenario: &Scenario, runs: Vec<RunReport>) -> Report {
    let mut faults: Vec<String> = Vec::new();
    for run in &runs {
        if !faults.contains(&run.fault) {
            faults.push(run.fault.clone());
        }
    }
    Report {
        format: FORMAT.to_owned(),
        version: VERSION,
        tool: tool(),
        seed,
        faults,
        engine: engine.name().to_owned(),
        config: config(scenario),
        runs,
    }
}

pub fn config(scenario: &Scenario) -> serde_json::Value {
    serde_json::json!({ "scenario": scenario })
}

pub fn tool() -> Tool {
    Tool { name: env!("CARGO_PKG_NAME").to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{Scenario, conditions};
    use crate::run::fit::usage;
    use crate::setup::span::Span;
    use fencepost_reports::explain::literature::{is_plain_lease, named};

    #[test]
    fn the_literature_calls_no_lock_a_plain_lease_that_renews() {
        let plain = fencepost_clients::CLIENTS.iter().filter(|client| is_plain_lease(client.name));
        assert!(plain.clone().count() > 5);
        for client in plain {
            let usage = usage(&Scenario::default(), client);
            assert!(!usage.renews && !usage.extends, "{}", client.name);
        }
    }

    #[test]
    fn a_critical_section_as_long_as_the_lease_outlasts_it() {
        let built_in = Scenario::default();
        assert!(!conditions(&built_in).outlasts_lease);
        let short = Scenario { ttl: Span::secs(8), ..built_in };
        assert!(conditions(&short).outlasts_lease);
    }

    #[test]
    fn the_literature_speaks_of_locks_that_there_are() {
        for client in named() {
            assert!(fencepost_clients::find(client).is_some(), "{client}");
        }
    }
}
