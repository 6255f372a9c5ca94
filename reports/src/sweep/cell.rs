//! One client under one fault over many seeds. Must never know in which order the runs came: adding commutes.

use super::interval::Rate;
use crate::cause::Cause;
use crate::finding::Kind;
use crate::report::{RunReport, ViolationReport};
use crate::verdict::Verdict;
use fencepost_faults::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One client under one fault over many seeds. All counts but `phases` are of runs: a run with ten overlaps counts once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// The lock, as `--client` names it.
    pub client: String,
    /// The family or families, as `--fault` names them.
    pub fault: String,
    /// How many seeds were run.
    pub runs: u64,
    /// How many of them were valid.
    pub valid: u64,
    /// How many were violated.
    pub violated: u64,
    /// How many exercised nothing.
    pub unknown: u64,
    /// How many runs broke each rule.
    pub violations_by_kind: BTreeMap<Kind, u64>,
    /// How many runs broke a rule for each cause.
    pub violations_by_cause: BTreeMap<Cause, u64>,
    /// The lowest seed that broke each rule.
    pub first_seed: BTreeMap<Kind, Seed>,
    /// Violated runs among those that exercised something.
    pub rate: Rate,
    /// How many of the anomalies' smallest runs were seen again, event by event, under turmoil.
    pub confirmed_under_turmoil: u64,
    /// Each distinct anomaly, by id.
    pub fingerprints: Vec<Fingerprint>,
    /// How often a fault of each kind began in each phase of the protocol.
    pub phases: BTreeMap<String, BTreeMap<String, u64>>,
    /// What differs from machine to machine.
    #[serde(default)]
    pub measured: BTreeMap<String, f64>,
}

/// A distinct anomaly.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Fingerprint {
    /// The stable fingerprint of client, kind and cause.
    pub id: String,
    /// The rule that was broken.
    pub kind: Kind,
    /// Why.
    pub cause: Cause,
    /// How many runs show it.
    pub runs: u64,
    /// The smallest run that shows it.
    pub smallest: Smallest,
    /// What was found in that run, with its minimal plan; absent if it was not made minimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Box<ViolationReport>>,
}

/// The smallest run that shows an anomaly: the fewest faults, then the lowest seed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Smallest {
    /// How many faults its plan (its minimal plan, if one was found) holds.
    pub faults: u64,
    /// Its seed.
    pub seed: Seed,
    /// Whether the same history was seen when it was run again under turmoil.
    #[serde(default)]
    pub confirmed_under_turmoil: bool,
}

/// What a cell must know of a run.
#[derive(Clone, Copy, Debug)]
pub struct RunSummary<'r> {
    /// The seed of the run.
    pub seed: Seed,
    /// What was found.
    pub run: &'r RunReport,
    /// For every fault that began: its kind, and the phase of the protocol that it met.
    pub phases: &'r [(String, String)],
}

impl Cell {
    /// A cell without runs.
    pub fn new(client: &str, fault: &str) -> Cell {
        Cell {
            client: client.to_owned(),
            fault: fault.to_owned(),
            runs: 0,
            valid: 0,
            violated: 0,
            unknown: 0,
            violations_by_kind: BTreeMap::new(),
            violations_by_cause: BTreeMap::new(),
            first_seed: BTreeMap::new(),
            rate: Rate::of(0, 0),
            confirmed_under_turmoil: 0,
            fingerprints: Vec::new(),
            phases: BTreeMap::new(),
            measured: BTreeMap::new(),
        }
    }

    /// Adds a run. In whatever order runs are added, the cell comes out the same.
    pub fn add(&mut self, summary: &RunSummary<'_>) {
        self.absorb(&Cell::of(summary));
    }

    /// The cell of a single run.
    fn of(summary: &RunSummary<'_>) -> Cell {
        let run = summary.run;
        let mut cell = Cell::new(&run.client, &run.fault);
        cell.runs = 1;
        match run.verdict {
            Verdict::Valid => cell.valid = 1,
            Verdict::Violated => cell.violated = 1,
            Verdict::Unknown { .. } => cell.unknown = 1,
        }
        for report in &run.violations {
            let violation = &report.violation;
            cell.violations_by_kind.insert(violation.kind, 1);
            cell.violations_by_cause.insert(violation.cause, 1);
            cell.first_seed.insert(violation.kind, summary.seed);
            let faults = report.minimal_plan.as_ref().unwrap_or(&run.plan).faults.len() as u64;
            let smallest = Smallest { faults, seed: summary.seed, confirmed_under_turmoil: false };
            let (id, kind, cause) = (violation.id.clone(), violation.kind, violation.cause);
            cell.absorb_fingerprint(&Fingerprint { id, kind, cause, runs: 1, smallest, report: None });
        }
        for (kind, phase) in summary.phases {
            *cell.phases.entry(kind.clone()).or_default().entry(phase.clone()).or_default() += 1;
        }
        cell
    }

    /// Adds up two cells of one client and fault. What was measured is dropped: it belongs to one machine.
    pub fn absorb(&mut self, other: &Cell) {
        self.runs += other.runs;
        self.valid += other.valid;
        self.violated += other.violated;
        self.unknown += other.unknown;
        add_counts(&mut self.violations_by_kind, &other.violations_by_kind);
        add_counts(&mut self.violations_by_cause, &other.violations_by_cause);
        for (kind, seed) in &other.first_seed {
            self.first_seed.entry(*kind).and_modify(|first| *first = (*first).min(*seed)).or_insert(*seed);
        }
        for (kind, phases) in &other.phases {
            add_counts(self.phases.entry(kind.clone()).or_default(), phases);
        }
        for fingerprint in &other.fingerprints {
            self.absorb_fingerprint(fingerprint);
        }
        self.count_confirmed();
        self.measured.clear();
        self.rate = Rate::of(self.violated, self.valid + self.violated);
    }

    /// Marks the smallest run of every anomaly that this seed is the smallest run of as seen again under turmoil.
    pub fn confirm(&mut self, seed: Seed) {
        for fingerprint in self.fingerprints.iter_mut().filter(|known| known.smallest.seed == seed) {
            fingerprint.smallest.confirmed_under_turmoil = true;
        }
        self.count_confirmed();
    }

    /// Adds what re-running the smallest run of an anomaly showed.
    pub fn explain(&mut self, report: ViolationReport) {
        if let Some(known) = self.fingerprints.iter_mut().find(|known| known.id == report.violation.id) {
            known.report = Some(Box::new(report));
        }
    }

    fn count_confirmed(&mut self) {
        let confirmed = self.fingerprints.iter().filter(|known| known.smallest.confirmed_under_turmoil);
        self.confirmed_under_turmoil = confirmed.count() as u64;
    }

    fn absorb_fingerprint(&mut self, other: &Fingerprint) {
        match self.fingerprints.binary_search_by(|known| known.id.cmp(&other.id)) {
            Err(place) => self.fingerprints.insert(place, other.clone()),
            Ok(place) => {
                let known = &mut self.fingerprints[place];
                known.runs += other.runs;
                if other.smallest < known.smallest {
                    known.smallest = other.smallest;
                    known.report.clone_from(&other.report);
                }
            }
        }
    }
}

fn add_counts<K: Ord + Clone>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        *into.entry(key.clone()).or_default() += count;
    }
}
