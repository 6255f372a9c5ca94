//! The stages that a report of one run is joined from, each complete when it exists.
//!
//! 1. [`RunFacts`]: what one run of the plan tells.
//! 2. [`Diagnosis`]: what only running again can tell.
//! 3. [`Recordings`]: what was written down beside, for whoever draws the run or judges it again.
//!
//! Somebody may have said before what should come out ([`Expectation`]). No stage is changed by a
//! later one, and a report is made once.

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

/// All that is known of one run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stages {
    /// What the run tells.
    pub facts: RunFacts,
    /// What only running again can tell.
    pub diagnosis: Diagnosis,
    /// How it was held against what should come out, if it was.
    pub expectation: Option<Expectation>,
    /// What was written down beside.
    pub recordings: Recordings,
}

impl From<RunFacts> for Stages {
    /// A run that nobody ran again, and of which nothing is written down beside.
    fn from(facts: RunFacts) -> Stages {
        Stages {
            facts,
            diagnosis: Diagnosis::default(),
            expectation: None,
            recordings: Recordings::default(),
        }
    }
}

/// What only running again can tell. Empty of a run that nobody ran again.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Diagnosis {
    /// What it showed of violations, by their id.
    pub violations: BTreeMap<String, ViolationDiagnosis>,
    /// The first system call in which two runs of the same programs differed, if they did.
    pub not_reproducible: Option<String>,
}

/// What only running again can tell of a violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ViolationDiagnosis {
    /// The smallest plan that still shows it.
    pub minimal_plan: FaultPlan,
    /// How much smaller the run of that plan is, and what it showed.
    pub minimal_run: MinimalRun,
    /// How much of the decisive magnitude is just enough; `None` if there is none.
    pub boundary: Option<Boundary>,
    /// Each fault of the minimal plan, and whether the violation is there without it.
    pub but_for: Vec<ButFor>,
    /// Pairs of neighbouring events of the minimal run, and whether the violation is there if they
    /// change places.
    pub necessary_order: Vec<OrderedPair>,
    /// Each safeguard that fits the run, and what became of the violation with it.
    pub remedies: Vec<Remedy>,
}

/// What was written down beside the facts, as far as somebody asked for it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Recordings {
    /// The whole history.
    pub history: Option<History>,
    /// The messages on the wire.
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
            plan: facts.plan,
            lengths: facts.lengths,
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
    /// A violation, with what running it again showed, if somebody did.
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

/// The checksum of a history; `None` only of one that cannot be written as JSON.
pub(crate) fn checksum_of(history: &History) -> Option<String> {
    serde_json::to_value(history).ok().map(|value| checksum(&value, Uncovered::Nothing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use fencepost_faults::Seed;

    /// A diagnosis of the violation that comes first.
    fn diagnosed(facts: &RunFacts) -> Diagnosis {
        let minimal_run = MinimalRun {
            processes: 2,
            cycles: 1,
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
