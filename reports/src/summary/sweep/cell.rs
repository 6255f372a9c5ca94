use super::finding_state::FindingState;
use super::first::SeedsToFirst;
use super::interval::{Rate, quiet_bound};
use crate::explain::cause::Cause;
use crate::judge::finding::Kind;
use crate::judge::phases::counts_by_phase;
use crate::summary::expectation::Expectation;
use crate::summary::facts::RunFacts;
use crate::summary::report::ViolationReport;
use crate::summary::verdict::Verdict;
use fencepost_faults::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Results of one lock under one fault over many seeds. Unless stated otherwise, a count is a
/// number of runs, so a run with ten overlaps counts once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Name of the lock, as in `--client`.
    pub client: String,
    /// Fault family, or families joined by `+`, as in `--fault`.
    pub fault: String,
    /// Number of runs, one for each seed: `valid`, `violated` and `unknown` together.
    pub runs: u64,
    /// Number of runs that exercised the lock and kept every rule.
    pub valid: u64,
    /// Number of runs that broke at least one rule.
    pub violated: u64,
    /// Number of inconclusive runs, such as those that did not exercise the lock.
    pub unknown: u64,
    /// The `unknown` runs in which a user-supplied program failed; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Failures>,
    /// Example of an `unknown` run, with the lowest seed; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_unknown: Option<FirstUnknown>,
    /// Number of runs that broke each rule.
    pub violations_by_kind: BTreeMap<Kind, u64>,
    /// Number of runs with a violation of each cause.
    pub violations_by_cause: BTreeMap<Cause, u64>,
    /// For each rule, the lowest seed with a violation.
    pub first_seed: BTreeMap<Kind, Seed>,
    /// Rate of violated runs among the exercised runs.
    pub rate: Rate,
    /// 95 % upper bound of the violation rate by the rule of three; absent if a run was violated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_bound: Option<f64>,
    /// Median and 90th percentile of the number of seeds until the first violation.
    #[serde(default)]
    pub seeds_to_first: SeedsToFirst,
    /// Number of anomalies whose smallest run turmoil reproduced event by event.
    pub confirmed_under_turmoil: u64,
    /// Distinct anomalies, ordered by id.
    pub fingerprints: Vec<Fingerprint>,
    /// Maximum number of violating runs that the cell keeps: first the smallest run of each
    /// anomaly, then the second smallest, and so on. It always keeps each anomaly's smallest run.
    #[serde(default = "violations_max")]
    pub violations_max: u64,
    /// Number of faults of each kind that began in each phase of the protocol.
    pub phases: BTreeMap<String, BTreeMap<String, u64>>,
    /// Limits of these faults and settings that apply to every seed, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blind_spots: Vec<String>,
    /// Comparison with the expected results; absent if no results are expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expectation: Option<Expectation>,
    /// Measurements that differ between machines. `cpu_us` is the processor time of all runs in
    /// microseconds, `cpu_us_per_run` is the processor time per run, and `cpu_us_to_first_median`
    /// and `cpu_us_to_first_p90` are the median and the 90th percentile of the seeds to the first
    /// violation, multiplied by `cpu_us_per_run`.
    #[serde(default)]
    pub measured: BTreeMap<String, f64>,
}

/// Summary of the `unknown` runs in which a user-supplied program failed. A crash of the program's
/// host does not count as a failure.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Failures {
    /// Number of `unknown` runs in which a program failed.
    pub runs: u64,
    /// Lowest seed of these runs.
    pub first_seed: Seed,
    /// Reason for the failure in the run of `first_seed`.
    pub reason: String,
}

/// The `unknown` run with the lowest seed, as an example.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FirstUnknown {
    /// Lowest seed with an `unknown` run.
    pub seed: Seed,
    /// Reason for the verdict.
    pub reason: String,
}

pub const VIOLATIONS_MAX: u64 = 100;

fn violations_max() -> u64 {
    VIOLATIONS_MAX
}

const CPU_US: &str = "cpu_us";

/// A distinct anomaly: a broken rule and its cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Fingerprint {
    /// Stable fingerprint of the lock, the broken rule and the cause.
    pub id: String,
    /// Rule that the lock broke.
    pub kind: Kind,
    /// Cause of the violation; `unexplained` if the evidence does not show the cause.
    pub cause: Cause,
    /// Number of runs that show the anomaly.
    pub runs: u64,
    /// Run with the fewest faults that shows the anomaly.
    pub smallest: Smallest,
    /// Further runs that show the anomaly, the smallest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<Kept>,
    /// Violation in the smallest run, with its minimal plan; absent if the plan was not minimized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Box<ViolationReport>>,
    /// State of the anomaly in the findings file; absent without `--findings`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<FindingState>,
}

/// A run that shows an anomaly. Runs are ordered by number of faults and then by seed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Kept {
    /// Number of faults in the plan of the run.
    pub faults: u64,
    /// Seed that reproduces the run with the lock and fault of the cell.
    pub seed: Seed,
}

/// Smallest run that shows an anomaly: the fewest faults, then the lowest seed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Smallest {
    /// Number of faults in the plan of the run.
    pub faults: u64,
    /// Seed that reproduces the run with the lock and fault of the cell.
    pub seed: Seed,
    /// `true` if turmoil reproduced the history of the run event by event.
    #[serde(default)]
    pub confirmed_under_turmoil: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct RunSummary<'r> {
    pub seed: Seed,
    pub run: &'r RunFacts,
    /// The kind of each fault that began, with the protocol phase in which it began.
    pub phases: &'r [(String, String)],
}

impl Cell {
    pub fn new(client: &str, fault: &str) -> Cell {
        Cell {
            client: client.to_owned(),
            fault: fault.to_owned(),
            runs: 0,
            valid: 0,
            violated: 0,
            unknown: 0,
            failed: None,
            first_unknown: None,
            violations_by_kind: BTreeMap::new(),
            violations_by_cause: BTreeMap::new(),
            first_seed: BTreeMap::new(),
            rate: Rate::of(0, 0),
            quiet_bound: None,
            seeds_to_first: SeedsToFirst::default(),
            confirmed_under_turmoil: 0,
            fingerprints: Vec::new(),
            violations_max: VIOLATIONS_MAX,
            phases: BTreeMap::new(),
            blind_spots: Vec::new(),
            expectation: None,
            measured: BTreeMap::new(),
        }
    }

    /// Adds a run. The order in which runs are added does not change the cell.
    pub fn add(&mut self, summary: &RunSummary<'_>) {
        self.absorb(&Cell::of(summary));
        self.seeds_to_first.add(summary.seed, summary.run.verdict == Verdict::Violated);
    }

    pub fn add_cpu_time(&mut self, cpu_us: u64) {
        *self.measured.entry(CPU_US.to_owned()).or_default() += cpu_us as f64;
        self.measure();
    }

    fn of(summary: &RunSummary<'_>) -> Cell {
        let run = summary.run;
        let mut cell = Cell::new(&run.client, &run.fault);
        cell.runs = 1;
        match &run.verdict {
            Verdict::Valid => cell.valid = 1,
            Verdict::Violated => cell.violated = 1,
            Verdict::Unknown { reason } => {
                let (seed, reason) = (summary.seed, reason.clone());
                (cell.unknown, cell.first_unknown) = (1, Some(FirstUnknown { seed, reason }));
            }
        }
        if let (Verdict::Unknown { reason }, true) = (&run.verdict, run.has_failed()) {
            let (first_seed, reason) = (summary.seed, reason.clone());
            cell.failed = Some(Failures { runs: 1, first_seed, reason });
        }
        for violation in &run.violations {
            cell.violations_by_kind.insert(violation.kind, 1);
            cell.violations_by_cause.insert(violation.cause, 1);
            cell.first_seed.insert(violation.kind, summary.seed);
            let faults = run.plan.faults.len() as u64;
            let smallest = Smallest { faults, seed: summary.seed, confirmed_under_turmoil: false };
            let (id, kind, cause) = (violation.id.clone(), violation.kind, violation.cause);
            let (others, report, state) = (Vec::new(), None, None);
            cell.absorb_fingerprint(&Fingerprint {
                id,
                kind,
                cause,
                runs: 1,
                smallest,
                others,
                report,
                state,
            });
        }
        for (kind, phase) in summary.phases {
            *cell.phases.entry(kind.clone()).or_default().entry(phase.clone()).or_default() += 1;
        }
        cell
    }

    pub fn absorb(&mut self, other: &Cell) {
        self.runs += other.runs;
        self.valid += other.valid;
        self.violated += other.violated;
        self.unknown += other.unknown;
        if let Some(other) = &other.failed {
            let runs = self.failed.as_ref().map_or(0, |own| own.runs);
            let own = self.failed.take().filter(|own| own.first_seed < other.first_seed);
            let first = own.unwrap_or_else(|| other.clone());
            self.failed = Some(Failures { runs: runs + other.runs, ..first });
        }
        if let Some(other) = &other.first_unknown {
            let own = self.first_unknown.take().filter(|own| own.seed < other.seed);
            self.first_unknown = Some(own.unwrap_or_else(|| other.clone()));
        }
        add_counts(&mut self.violations_by_kind, &other.violations_by_kind);
        add_counts(&mut self.violations_by_cause, &other.violations_by_cause);
        for (kind, seed) in &other.first_seed {
            self.first_seed
                .entry(*kind)
                .and_modify(|first| *first = (*first).min(*seed))
                .or_insert(*seed);
        }
        for (kind, phases) in &other.phases {
            add_counts(self.phases.entry(kind.clone()).or_default(), phases);
        }
        for fingerprint in &other.fingerprints {
            self.absorb_fingerprint(fingerprint);
        }
        self.keep_smallest();
        self.count_confirmed();
        self.rate = Rate::of(self.violated, self.valid + self.violated);
        self.quiet_bound = (self.violated == 0).then(|| quiet_bound(self.valid));
        self.seeds_to_first.absorb(&other.seeds_to_first);
        if let Some(cpu_us) = other.measured.get(CPU_US) {
            *self.measured.entry(CPU_US.to_owned()).or_default() += cpu_us;
        }
        self.measure();
    }

    /// Returns the protocol phases, except `before-acquire`, in which no fault began. Returns no
    /// phase if no fault began at all.
    pub fn phases_without_faults(&self) -> Vec<&'static str> {
        let counts = counts_by_phase(&self.phases).into_iter();
        let unmet = counts.filter(|(phase, count)| *count == 0 && *phase != "before-acquire");
        unmet.map(|(phase, _)| phase).collect()
    }

    pub fn kept(&self) -> Vec<(usize, Kept)> {
        let of = |(place, found): (usize, &Fingerprint)| {
            found
                .runs_kept()
                .into_iter()
                .enumerate()
                .map(move |(rank, kept)| (rank, place, kept))
                .collect::<Vec<_>>()
        };
        let mut all: Vec<_> = self.fingerprints.iter().enumerate().flat_map(of).collect();
        all.sort_by_key(|(rank, place, _)| (*rank, *place));
        all.into_iter().map(|(_, place, kept)| (place, kept)).collect()
    }

    /// Drops runs beyond `violations_max`, but keeps each anomaly's smallest run.
    fn keep_smallest(&mut self) {
        let kept: usize = self.fingerprints.iter().map(|found| 1 + found.others.len()).sum();
        let limit =
            self.fingerprints.len().max(usize::try_from(self.violations_max).unwrap_or(usize::MAX));
        if kept <= limit {
            return;
        }
        let mut others = vec![0; self.fingerprints.len()];
        for (place, _) in self.kept().into_iter().take(limit).skip(self.fingerprints.len()) {
            others[place] += 1;
        }
        for (found, others) in self.fingerprints.iter_mut().zip(others) {
            found.others.truncate(others);
        }
    }

    fn measure(&mut self) {
        let Some(cpu_us) = self.measured.get(CPU_US).copied() else { return };
        let per_run = cpu_us / self.runs.max(1) as f64;
        let first = &self.seeds_to_first;
        let derived =
            [("per_run", Some(1)), ("to_first_median", first.median), ("to_first_p90", first.p90)];
        for (name, seeds) in derived {
            let name = format!("{CPU_US}_{name}");
            match seeds {
                Some(seeds) => self.measured.insert(name, (per_run * seeds as f64).round()),
                None => self.measured.remove(&name),
            };
        }
    }

    /// Marks anomalies as confirmed under turmoil if their smallest run has this seed.
    pub fn confirm(&mut self, seed: Seed) {
        for fingerprint in self.fingerprints.iter_mut().filter(|known| known.smallest.seed == seed)
        {
            fingerprint.smallest.confirmed_under_turmoil = true;
        }
        self.count_confirmed();
    }

    pub fn explain(&mut self, report: ViolationReport) {
        if let Some(known) =
            self.fingerprints.iter_mut().find(|known| known.id == report.violation.id)
        {
            known.report = Some(Box::new(report));
        }
    }

    fn count_confirmed(&mut self) {
        let confirmed =
            self.fingerprints.iter().filter(|known| known.smallest.confirmed_under_turmoil);
        self.confirmed_under_turmoil = confirmed.count() as u64;
    }

    fn absorb_fingerprint(&mut self, other: &Fingerprint) {
        match self.fingerprints.binary_search_by(|known| known.id.cmp(&other.id)) {
            Err(place) => self.fingerprints.insert(place, other.clone()),
            Ok(place) => {
                let known = &mut self.fingerprints[place];
                known.runs += other.runs;
                let mut kept = [known.runs_kept(), other.runs_kept()].concat();
                kept.sort();
                known.others = kept.split_off(1);
                if other.smallest < known.smallest {
                    known.smallest = other.smallest;
                    known.report.clone_from(&other.report);
                }
            }
        }
    }
}

impl Fingerprint {
    pub(crate) fn runs_kept(&self) -> Vec<Kept> {
        let smallest = Kept { faults: self.smallest.faults, seed: self.smallest.seed };
        [vec![smallest], self.others.clone()].concat()
    }
}

fn add_counts<K: Ord + Clone>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        let sum = into.entry(key.clone()).or_default();
        *sum = sum.saturating_add(*count);
    }
}
