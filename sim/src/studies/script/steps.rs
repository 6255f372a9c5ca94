use super::ScriptError;
use super::faults::Faults;
use super::step::{Class, Span, Step};
use super::transcript::transcript;
use crate::run::{RunOutcome, RunSpec};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Node, SimTime};
use fencepost_reports::judge::timeline::{Section, Timeline};
use fencepost_reports::{Access, History, Turn, Violation, What};
use serde_json::{Value, json};

const LEAD_US: u64 = 100_000;

pub(super) fn steps(
    spec: &RunSpec,
    outcome: &RunOutcome,
    span: Span,
) -> Result<Vec<Value>, ScriptError> {
    let mut steps = transcript(spec, outcome, span)?;
    steps.extend(concluded(outcome));
    steps.extend(promotions(spec, outcome));
    steps.extend(Faults { spec, history: &outcome.history, span }.steps()?);
    let end = json!({ "do": "say", "text": "the recorded part ends" });
    steps.push(Step { at: span.until, class: Class::Command, what: end });
    steps.retain(|step| step.at <= span.until);
    steps.sort_by_key(|step| (step.at, step.class));
    let first = steps.first().map_or(0, |step| step.at.0.saturating_sub(LEAD_US));
    let relative = |step: Step| {
        let Value::Object(what) = step.what else { return step.what };
        let mut fields = serde_json::Map::new();
        fields.insert("at_us".to_owned(), json!(step.at.0 - first));
        fields.extend(what);
        Value::Object(fields)
    };
    Ok(steps.into_iter().map(relative).collect())
}

pub(super) fn clash(history: &History, violation: &Violation) -> Vec<u64> {
    let timeline = Timeline::new(history);
    let is_open = |section: &&Section| {
        let ends = section.ends(timeline.end);
        let covers = section.from.time <= violation.at_us && violation.at_us < ends;
        covers && violation.processes.contains(&section.process)
    };
    let open = timeline.sections.iter().filter(is_open);
    open.map(|section| timeline.acquisitions[section.acquisition].operation).collect()
}

fn concluded(outcome: &RunOutcome) -> Vec<Step> {
    let timeline = Timeline::new(&outcome.history);
    let step = |at, action, section: &Section| Step {
        at,
        class: Class::Client,
        what: json!({
            "do": action,
            "by": section.process.to_string(),
            "acquisition": timeline.acquisitions[section.acquisition].operation,
        }),
    };
    let both = |section: &Section| {
        let left = section.to.map(|to| step(to.time, "leave", section));
        [Some(step(section.from.time, "enter", section)), left]
    };
    let mut steps: Vec<Step> = timeline.sections.iter().flat_map(both).flatten().collect();
    for event in &outcome.history.events {
        let What::Storage { by, access, accepted, acquisition, .. } = &event.what else {
            continue;
        };
        let access = match access {
            Access::Read => "read",
            Access::Write => "write",
        };
        let what = json!({
            "do": "storage",
            "by": by.to_string(),
            "access": access,
            "accepted": accepted,
            "acquisition": acquisition,
        });
        steps.push(Step { at: event.time_us, class: Class::Client, what });
    }
    steps
}

fn promotions(spec: &RunSpec, outcome: &RunOutcome) -> Vec<Step> {
    if !matches!(spec.topology(), Topology::Replicated { .. }) {
        return Vec::new();
    }
    let promoted = outcome.history.events.iter().filter(|event| {
        let is_promotion = matches!(event.what, What::Turn { turn: Turn::Promoted, .. });
        is_promotion && matches!(event.node, Node::Redis(_)) && event.time_us > SimTime::ZERO
    });
    let step = |event: &fencepost_reports::Event| Step {
        at: event.time_us,
        class: Class::Fault,
        what: json!({ "do": "promoted", "server": event.node.to_string() }),
    };
    promoted.map(step).collect()
}
