//! The verdict over one history. Must never know how the history was made or how the verdict is shown.

use crate::cause::{Cause, classify};
use crate::checker::CHECKERS;
use crate::explain;
use crate::finding::{Finding, Kind};
use crate::history::History;
use crate::timeline::{Outcome, Timeline};
use crate::violation::{Violation, fingerprint};
use fencepost_faults::{Micros, Node};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Whether the promises of the lock were kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// Exercised, and nothing found.
    Valid,
    /// At least one rule was broken.
    Violated,
    /// Nothing found, but nothing exercised either.
    Unknown {
        /// What is missing.
        reason: String,
    },
}

impl Verdict {
    /// The name, as in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Verdict::Valid => "valid",
            Verdict::Violated => "violated",
            Verdict::Unknown { .. } => "unknown",
        }
    }
}

/// What the checkers say about one history.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judgement {
    /// Whether the promises of the lock were kept.
    pub verdict: Verdict,
    /// What was broken: one entry for each kind and cause, in the order of the first occurrences.
    pub violations: Vec<Violation>,
}

/// Runs every checker over a history. Whatever is found makes it violated; otherwise it is unknown unless it exercised the lock.
pub fn judge(history: &History) -> Judgement {
    let timeline = Timeline::new(history);
    let findings: Vec<Finding> = CHECKERS.iter().flat_map(|checker| (checker.check)(&timeline)).collect();
    let violations = grouped(&timeline, findings);
    let verdict = match (violations.is_empty(), unexercised(&timeline)) {
        (false, _) => Verdict::Violated,
        (true, None) => Verdict::Valid,
        (true, Some(reason)) => Verdict::Unknown { reason },
    };
    Judgement { verdict, violations }
}

/// One violation for each kind and cause: the first finding speaks, the others are counted.
fn grouped(timeline: &Timeline<'_>, findings: Vec<Finding>) -> Vec<Violation> {
    let mut groups: BTreeMap<(Kind, Cause), Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        groups.entry((finding.kind, classify(timeline, &finding))).or_default().push(finding);
    }
    let mut violations: Vec<Violation> =
        groups.into_iter().map(|((_, cause), group)| violation(timeline, cause, &group)).collect();
    violations.sort_by_key(|violation| (violation.at_us, violation.kind, violation.cause));
    violations
}

/// The violation that a group of findings of one kind and cause makes. The group is not empty.
fn violation(timeline: &Timeline<'_>, cause: Cause, group: &[Finding]) -> Violation {
    let first = group.iter().min_by_key(|finding| finding.at).unwrap_or(&group[0]);
    let header = &timeline.history.header;
    Violation {
        id: fingerprint(&header.client, first.kind, cause),
        kind: first.kind,
        severity: first.kind.severity(),
        resource: header.resource.clone(),
        at_us: first.at,
        duration_us: first.duration,
        occurrences: group.len() as u64,
        total_duration_us: group.iter().fold(Micros::ZERO, |sum, finding| sum + finding.duration),
        processes: first.processes.clone(),
        cause,
        summary: explain::summary(timeline, first, cause),
        witness: first.witness.iter().map(|index| timeline.history.events[*index].clone()).collect(),
    }
}

/// Why a history without findings proves nothing, if so. The probe does not count: no fault ever meets it.
fn unexercised(timeline: &Timeline<'_>) -> Option<String> {
    let granted = timeline.acquisitions.iter().filter(|one| one.outcome == Outcome::Granted);
    let processes: BTreeSet<Node> = granted.map(|one| one.process).filter(|node| *node != Node::Probe).collect();
    if processes.len() < 2 {
        let who = processes.first().map_or("no process".to_owned(), |only| format!("only {only}"));
        return Some(format!("{who} acquired the lock; at least two must compete for it"));
    }
    no_fault_met(timeline).or_else(|| unordered(timeline)).or_else(|| unfinished(timeline))
}

/// A family of faults proves something only if one began while somebody was holding or acquiring.
fn no_fault_met(timeline: &Timeline<'_>) -> Option<String> {
    let header = &timeline.history.header;
    if header.fault == "none" && header.faults_planned == 0 {
        return None;
    }
    let busy = |fault: &crate::timeline::FaultSpan<'_>| {
        let acquiring = timeline
            .acquisitions
            .iter()
            .any(|one| one.invoked < fault.from && one.completed.is_none_or(|completed| fault.from < completed));
        acquiring || timeline.sections.iter().any(|section| section.covers(fault.from))
    };
    match timeline.faults.iter().any(busy) {
        true => None,
        false if timeline.faults.is_empty() => Some(format!("no fault of '{}' was fired", header.fault)),
        false => Some("no fault began while a process was holding or acquiring the lock".to_owned()),
    }
}

/// Where the storage was asked under an acquisition that no server tells of granting, the order of grants is not known.
fn unordered(timeline: &Timeline<'_>) -> Option<String> {
    let stranger = timeline.storage.iter().find_map(|request| {
        let acquisition = &timeline.acquisitions[request.acquisition?];
        acquisition.grant.is_none().then_some(acquisition)
    })?;
    Some(format!(
        "no quorum of servers tells of granting acquisition {} of {}, so its place in the order of grants is not known",
        stranger.operation, stranger.process
    ))
}

/// Progress is judged only if the history goes on until the bound after healing, or somebody acquired before.
fn unfinished(timeline: &Timeline<'_>) -> Option<String> {
    let healed = timeline.healed?;
    let deadline = healed.time + timeline.history.header.progress_bound_us;
    let progressed = timeline.sections.iter().any(|section| section.from > healed);
    let gave_up = timeline
        .acquisitions
        .iter()
        .any(|one| one.process == Node::Probe && one.completed.is_some() && one.outcome != Outcome::Granted);
    (!progressed && !gave_up && timeline.end < deadline).then(|| {
        format!("the history ends at {}, before the bound for progress after healing ({deadline})", timeline.end)
    })
}
