//! Exports a violation as a folder that reproduces it on real Redis servers, without fencepost. Its
//! script replays each client's requests, none earlier than recorded, and compares the replies.

mod faults;
mod step;
mod steps;
mod transcript;

use crate::diagnosis::Target;
use crate::engine::{Engine, EngineError};
use crate::run::{Recording, RunOutcome, RunSpec};
use crate::setup::scenario::Scenario;
use fencepost_clients::Coordinator;
use fencepost_faults::Node;
use fencepost_faults::setting::Topology;
use fencepost_reports::{Violation, judge};
use serde_json::{Value, json};
use step::{MARGIN_US, Span};
use steps::{clash, steps};

const SHOW: &str = include_str!("script/show.py");
const RUN: &str = include_str!("script/run.sh");
const README: &str = include_str!("script/README.md");

pub struct ScriptFile {
    pub name: &'static str,
    pub content: String,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ScriptError {
    #[error("a script cannot reproduce this run: {0}")]
    Inexpressible(String),
    #[error(transparent)]
    Run(EngineError),
    #[error("the repeated run does not show {0}, so there is nothing to export")]
    NotShown(String),
}

fn inexpressible<T>(what: impl Into<String>) -> Result<T, ScriptError> {
    Err(ScriptError::Inexpressible(what.into()))
}

/// Exports the first run whose violation lasts long enough for real servers, or else the longest.
pub fn script(runs: &[RunSpec], shown: Target) -> Result<Vec<ScriptFile>, ScriptError> {
    if !shown.kind.is_about_clash() {
        return inexpressible(format!(
            "scripts show only overlaps of critical sections and stale writes, not {}",
            shown.kind
        ));
    }
    let mut best: Option<Found> = None;
    for spec in runs {
        let coordinator = spec.client.deployment.coordinator();
        if coordinator != Coordinator::Redis {
            return inexpressible(format!("the lock uses {}, not redis", coordinator.name()));
        }
        let found = Found::of(spec, shown)?;
        let lasts = |found: &Option<Found>| found.as_ref().map(|it| it.violation.duration_us);
        if lasts(&found) > lasts(&best) {
            best = found;
        }
        if best.as_ref().is_some_and(|found| found.violation.duration_us.0 >= MARGIN_US) {
            break;
        }
    }
    let not_shown = || ScriptError::NotShown(format!("{} by {}", shown.kind, shown.cause));
    best.ok_or_else(not_shown)?.files()
}

struct Found<'r> {
    spec: &'r RunSpec,
    outcome: RunOutcome,
    violation: Violation,
}

impl Found<'_> {
    fn of(spec: &RunSpec, shown: Target) -> Result<Option<Found<'_>>, ScriptError> {
        let outcome = spec.run_recording(Engine::Fast, Recording::Bytes);
        let outcome = outcome.map_err(ScriptError::Run)?;
        let mut all = judge(&outcome.history).violations.into_iter();
        let violation = all.find(|one| (one.kind, one.cause) == (shown.kind, shown.cause));
        Ok(violation.map(|violation| Found { spec, outcome, violation }))
    }

    fn files(&self) -> Result<Vec<ScriptFile>, ScriptError> {
        let span = Span::of(&self.violation);
        let steps = steps(self.spec, &self.outcome, span)?;
        let clash = clash(&self.outcome.history, &self.violation);
        let files = [
            ("README.md", readme(self.spec, &self.violation, span)),
            ("run.sh", RUN.to_owned()),
            ("show.py", SHOW.to_owned()),
            ("run.json", run(self.spec, &self.violation, &clash, &steps)),
        ];
        Ok(files.map(|(name, content)| ScriptFile { name, content }).into())
    }
}

fn title(spec: &RunSpec, violation: &Violation) -> String {
    let (client, families, seed) = (spec.client.name, &spec.families, spec.seed);
    format!("{} by {}: {client} under {families}, seed {seed}", violation.kind, violation.cause)
}

fn run(spec: &RunSpec, violation: &Violation, clash: &[u64], steps: &[Value]) -> String {
    let deployment = json!({
        "title": title(spec, violation),
        "kind": violation.kind,
        "clash": clash,
        "deployment": deployment(&spec.scenario, spec.topology(), steps),
    });
    let lines: Vec<String> = steps.iter().map(Value::to_string).collect();
    let mut text = deployment.to_string();
    text.truncate(text.len() - 1);
    format!("{text},\n\"steps\": [\n{}\n]}}\n", lines.join(",\n"))
}

fn deployment(scenario: &Scenario, topology: Topology, steps: &[Value]) -> Value {
    let setting = scenario.setting(topology);
    let names = |nodes: Vec<Node>| nodes.iter().map(Node::to_string).collect::<Vec<_>>();
    let servers = &scenario.servers;
    let acts_between_servers = |step: &&Value| step.get("pairs").is_some();
    let promoted = steps.iter().find(|step| step["do"] == "promoted");
    json!({
        "servers": names(setting.servers()),
        "sentinels": names(setting.sentinels()),
        "replicated": matches!(topology, Topology::Replicated { .. }),
        "persistence": servers.persistence,
        "min_replicas": servers.min_replicas,
        "down_after_ms": servers.down_after.0.as_millis(),
        "failover_timeout_ms": servers.failover_timeout.0.as_millis(),
        "proxied": steps.iter().find(acts_between_servers).is_some(),
        "promoted": promoted.map(|step| step["server"].clone()),
    })
}

fn readme(spec: &RunSpec, violation: &Violation, span: Span) -> String {
    let seconds = span.micros() / 1_000_000 + 1;
    README
        .replace("{title}", &title(spec, violation))
        .replace("{summary}", &violation.summary)
        .replace("{seconds}", &seconds.to_string())
        .replace("{client}", spec.client.name)
}
