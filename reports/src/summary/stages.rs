//! The stages of a run's report. No stage changes an earlier stage.
//!
//! 1. [`RunFacts`] needs one run of the plan.
//! 2. [`Diagnosis`] needs further runs.
//! 3. [`Recordings`] holds the history and the messages, for diagrams and to judge the run again.

use super::expectation::Expectation;
use super::facts::RunFacts;
use super::report::{Boundary, ButFor, MinimalRun, Remedy, RunReport, ViolationReport};
use super::violation::Violation;
use crate::explain::order::OrderedPair;
use crate::record::checksum::{Uncovered, checksum};
use crate::record::history::History;
use crate::record::trace::Trace;
use fencepost_faults::FaultPlan;
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stages {
    pub facts: RunFacts,
    pub diagnosis: Diagnosis,
    pub expectation: Option<Expectation>,
    pub recordings: Recordings,
}

impl From<RunFacts> for Stages {
    fn from(facts: RunFacts) -> Stages {
        Stages {
            facts,
            diagnosis: Diagnosis::default(),
            expectation: None,
            recordings: Recordings::default(),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnosis {
    /// Keyed by [`Violation::id`].
    pub violations: BTreeMap<String, ViolationDiagnosis>,
    pub not_reproducible: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViolationDiagnosis {
    pub minimal_plan: FaultPlan,
    pub minimal_run: MinimalRun,
    pub boundary: Option<Boundary>,
    pub but_for: Vec<ButFor>,
    pub necessary_order: Vec<OrderedPair>,
    pub remedies: Vec<Remedy>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recordings {
    pub history: Option<History>,
    pub trace: Option<Trace>,
}

impl From<Stages> for RunReport {
    fn from(stages: Stages) -> RunReport {
        let Stages { facts, mut diagnosis, expectation, recordings } = stages;
        let violations = facts.violations.into_iter().map(|violation| {
            let diagnosed = diagnosis.violations.remove(&violation.id);
            ViolationReport::new(violation, diagnosed, &facts.replay)
        });
        RunReport {
            client: facts.client,
            fault: facts.fault,
            verdict: facts.verdict,
            expected: facts.expected,
            history_digest: facts.history_digest,
            virtual_time_us: facts.virtual_time_us,
            operations: facts.operations,
            acquisitions: facts.acquisitions,
            messages: facts.messages,
            faults_fired: facts.faults_fired,
            faults_began: facts.faults_began,
            plan: facts.plan,
            lengths: facts.lengths,
            workload: None,
            latency_us: facts.latency_us,
            storage: facts.storage,
            violations: violations.collect(),
            expectation,
            timeline: facts.timeline,
            history_checksum: recordings.history.as_ref().and_then(checksum_of),
            history: recordings.history,
            trace: recordings.trace,
            programs: facts.programs,
            note: facts.note,
            ran: facts.ran,
            not_reproducible: diagnosis.not_reproducible,
        }
    }
}

impl ViolationReport {
    pub fn new(
        violation: Violation,
        diagnosis: Option<ViolationDiagnosis>,
        replay: &str,
    ) -> ViolationReport {
        let replay = replay.to_owned();
        let Some(diagnosis) = diagnosis else {
            return ViolationReport {
                violation,
                minimal_plan: None,
                minimal_run: None,
                boundary: None,
                but_for: Vec::new(),
                necessary_order: Vec::new(),
                remedies: Vec::new(),
                replay,
            };
        };
        ViolationReport {
            violation,
            minimal_plan: Some(diagnosis.minimal_plan),
            minimal_run: Some(diagnosis.minimal_run),
            boundary: diagnosis.boundary,
            but_for: diagnosis.but_for,
            necessary_order: diagnosis.necessary_order,
            remedies: diagnosis.remedies,
            replay,
        }
    }
}

pub(crate) fn checksum_of(history: &History) -> Option<String> {
    serde_json::to_value(history).ok().map(|value| checksum(&value, Uncovered::Nothing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use fencepost_faults::Seed;

    fn diagnosed(facts: &RunFacts) -> Diagnosis {
        let minimal_run = MinimalRun {
            processes: 2,
            cycles: 1,
            involved: Vec::new(),
            history_digest: "f00d".to_owned(),
            searched_runs: 40,
            complete: true,
        };
        let one = ViolationDiagnosis {
            minimal_plan: facts.plan.clone(),
            minimal_run,
            boundary: None,
            but_for: Vec::new(),
            necessary_order: Vec::new(),
            remedies: Vec::new(),
        };
        Diagnosis {
            violations: BTreeMap::from([(facts.violations[0].id.clone(), one)]),
            not_reproducible: None,
        }
    }

    #[test]
    fn a_diagnosis_goes_to_its_own_violation_and_to_no_other() {
        let facts = samples::facts(samples::paused_holder());
        let stages = Stages { diagnosis: diagnosed(&facts), ..facts.clone().into() };
        let report = RunReport::from(stages);
        let shown: Vec<bool> =
            report.violations.iter().map(|one| one.minimal_plan.is_some()).collect();
        assert!(shown.len() > 1, "the sample breaks more than one rule");
        assert_eq!(shown.iter().filter(|is_diagnosed| **is_diagnosed).count(), 1);
        assert_eq!(report.violations[0].minimal_plan, Some(facts.plan));
        assert!(report.violations.iter().all(|one| one.replay == facts.replay));
    }

    #[test]
    fn a_history_comes_with_its_checksum_and_none_without() {
        let facts = samples::facts(samples::quiet());
        let bare = RunReport::from(Stages::from(facts.clone()));
        assert_eq!((bare.history, bare.history_checksum), (None, None));
        let history = samples::quiet().build();
        let recordings = Recordings { history: Some(history.clone()), trace: None };
        let whole = RunReport::from(Stages { recordings, ..facts.into() });
        assert_eq!(whole.history_checksum, checksum_of(&history));
        assert!(whole.history_checksum.is_some());
        let mut other = history;
        other.header.seed = Seed(8);
        assert_ne!(whole.history_checksum, checksum_of(&other));
    }
}
