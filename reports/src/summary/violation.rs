use crate::explain::cause::{Cause, Tells, classify};
use crate::explain::narrative::{self, Line};
use crate::explain::words;
use crate::judge::finding::{Finding, Kind, Severity};
use crate::judge::timeline::Timeline;
use crate::record::history::Event;
use fencepost_faults::{Micros, Node, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// A broken rule in one run, with all occurrences that have the same cause. Unless stated
/// otherwise, a field describes the first occurrence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// Stable fingerprint of the lock, the broken rule and the cause. The same anomaly has the same
    /// id in every run.
    pub id: String,
    /// Rule that the run broke.
    pub kind: Kind,
    /// Severity of the broken rule: `harm` or `hazard`.
    pub severity: Severity,
    /// Name of the locked resource.
    pub resource: String,
    /// Virtual time in microseconds at which the first occurrence began.
    pub at_us: SimTime,
    /// Duration of the first occurrence in microseconds; 0 if it was instantaneous.
    pub duration_us: Micros,
    /// Number of occurrences in this run with the same cause.
    pub occurrences: u64,
    /// `sequence` of each event that broke the rule; empty if no single event did.
    #[serde(default)]
    pub at_events: Vec<u64>,
    /// Total duration of all occurrences, in microseconds.
    pub total_duration_us: Micros,
    /// Processes involved in the first occurrence; of two conflicting holders, the earlier first.
    pub processes: Vec<Node>,
    /// Cause of the violation; `unexplained` if the evidence does not show the cause.
    pub cause: Cause,
    /// Description of the violation, in sentences.
    pub summary: String,
    /// Events that prove the violation, in order.
    pub witness: Vec<Event>,
    /// Steps that led to the violation, each with its supporting event.
    #[serde(default)]
    pub narrative: Vec<Line>,
}

/// Returns the first twelve hex digits of the SHA-256 of lock, kind and cause on separate lines.
pub fn fingerprint(client: &str, kind: Kind, cause: Cause) -> String {
    let text = format!("{client}\n{kind}\n{cause}");
    Sha256::digest(text.as_bytes())[..6].iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn grouped(timeline: &Timeline<'_>, findings: Vec<Finding>) -> Vec<Violation> {
    let mut groups: BTreeMap<(Kind, Cause), Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        groups.entry((finding.kind, classify(timeline, &finding))).or_default().push(finding);
    }
    let mut violations: Vec<Violation> =
        groups.into_iter().map(|((_, cause), group)| violation(timeline, cause, &group)).collect();
    violations.sort_by_key(|violation| (violation.at_us, violation.kind, violation.cause));
    violations
}

pub(super) fn merged(violations: Vec<Violation>) -> Vec<Violation> {
    let mut all: Vec<Violation> = Vec::new();
    for one in violations {
        let Some(known) = all.iter_mut().find(|known| known.id == one.id) else {
            all.push(one);
            continue;
        };
        let occurrences = known.occurrences + one.occurrences;
        let total_duration_us = known.total_duration_us + one.total_duration_us;
        let mut at_events = [known.at_events.as_slice(), &one.at_events].concat();
        at_events.sort_unstable();
        at_events.dedup();
        if one.at_us < known.at_us {
            *known = one;
        }
        *known = Violation { occurrences, total_duration_us, at_events, ..known.clone() };
    }
    all.sort_by_key(|violation| (violation.at_us, violation.kind, violation.cause));
    all
}

fn violation(timeline: &Timeline<'_>, cause: Cause, group: &[Finding]) -> Violation {
    let first = group.iter().min_by_key(|finding| finding.at).unwrap_or(&group[0]);
    let first = &with_evidence_for(timeline, cause, first);
    let header = &timeline.history.header;
    Violation {
        id: fingerprint(&header.client, first.kind, cause),
        kind: first.kind,
        severity: first.kind.severity(),
        resource: header.resource.clone(),
        at_us: first.at,
        duration_us: first.duration,
        occurrences: group.len() as u64,
        at_events: at_events(timeline, group),
        total_duration_us: group.iter().fold(Micros::ZERO, |sum, finding| sum + finding.duration),
        processes: first.processes.clone(),
        cause,
        summary: words::summary(timeline, first, cause),
        witness: first
            .witness
            .iter()
            .map(|index| timeline.history.events[*index].clone())
            .collect(),
        narrative: narrative::narrative(timeline, first, cause),
    }
}

/// For a takeover, drops the evidence from before the owner's acquire, such as the events of the
/// remover's earlier lock.
fn with_evidence_for(timeline: &Timeline<'_>, cause: Cause, finding: &Finding) -> Finding {
    let mut told = finding.clone();
    let taken = finding.clash.filter(|_| cause.tells(finding.kind) == Tells::Takeover);
    let victim = taken.map(|clash| &timeline.acquisitions[clash.later]);
    if let Some(victim) = victim {
        told.witness.retain(|index| victim.invoked.index <= *index);
    }
    told
}

/// Returns the sequence numbers of the events that break the rule; none for a lack of progress.
fn at_events(timeline: &Timeline<'_>, group: &[Finding]) -> Vec<u64> {
    if group.iter().any(|finding| finding.kind.is_lack_of_progress()) {
        return Vec::new();
    }
    let events = &timeline.history.events;
    let breaks = |finding: &Finding| {
        let mut evidence = finding.witness.iter().rev().map(|index| &events[*index]);
        evidence.find(|event| event.time_us == finding.at).map(|event| event.sequence)
    };
    let mut broken: Vec<u64> = group.iter().filter_map(breaks).collect();
    broken.sort_unstable();
    broken.dedup();
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_is_stable_across_builds() {
        // Computed by `printf 'redlock\noverlap\nholder-pause' | sha256sum | cut -c1-12`
        assert_eq!(fingerprint("redlock", Kind::Overlap, Cause::HolderPause), "2bab58c3e826");
    }

    #[test]
    fn names_are_those_of_the_json() {
        let json = |value: serde_json::Value| value.as_str().map(str::to_owned);
        for kind in Kind::ALL {
            assert_eq!(json(serde_json::to_value(kind).unwrap()).as_deref(), Some(kind.name()));
        }
        for cause in Cause::ALL {
            assert_eq!(json(serde_json::to_value(cause).unwrap()).as_deref(), Some(cause.name()));
        }
    }

    #[test]
    fn client_kind_and_cause_all_count() {
        let base = fingerprint("redlock", Kind::Overlap, Cause::HolderPause);
        assert_ne!(base, fingerprint("fencing", Kind::Overlap, Cause::HolderPause));
        assert_ne!(base, fingerprint("redlock", Kind::StaleWrite, Cause::HolderPause));
        assert_ne!(base, fingerprint("redlock", Kind::Overlap, Cause::ClockJump));
    }
}
