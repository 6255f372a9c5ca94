//! The `fencepost.report` format, which `run --format json` prints. The reader drops the remedies
//! of version 1, which state only whether a remedy helps in one run.

use crate::explain::cause::Cause;
use crate::explain::literature::Expected;
use crate::explain::order::OrderedPair;
use crate::record::history::{History, What};
use crate::record::programs::{ProgramReport, Ran};
use crate::record::trace::Trace;
use crate::summary::expectation::Expectation;
use crate::summary::verdict::Verdict;
use crate::summary::violation::Violation;
use fencepost_faults::{FaultPlan, Node, Seed, SimTime};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

pub const FORMAT: &str = "fencepost.report";
/// This build also reads version 1.
pub const VERSION: u32 = 2;

/// Results of the runs of one seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Name of the format, always `fencepost.report`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format, always 2.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// Name and version of the program that wrote the report.
    pub tool: Tool,
    /// Seed of all random values, in every run of the report.
    pub seed: Seed,
    /// Fault families that were run for the seed, without duplicates.
    pub faults: Vec<String>,
    /// Engine that executed the runs: `turmoil` or `fast`.
    pub engine: String,
    /// Settings of the runs, in `scenario`.
    pub config: serde_json::Value,
    /// Runs, one for each lock under each fault; only one run in a file that `--out` writes.
    pub runs: Vec<RunReport>,
}

/// A program and its version.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Name of the program: `fencepost`.
    pub name: String,
    /// Semantic version, as printed by `fencepost --version`.
    pub version: String,
}

/// Result of one lock's run under one fault plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunReport {
    /// Name of the lock, as in `--client`.
    pub client: String,
    /// Fault family, or families joined by `+`, as in `--fault`.
    pub fault: String,
    /// Verdict on the run, and a `reason` if the verdict is `unknown`.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Prediction from the literature for this lock under this fault; `null` if there is none.
    pub expected: Option<Expected>,
    /// SHA-256, in hex, of the history's events except faults, healing, silences and turns.
    pub history_digest: String,
    /// Virtual duration of the run in microseconds.
    pub virtual_time_us: SimTime,
    /// Number of operations that the processes invoked.
    pub operations: u64,
    /// Number of successful acquires.
    pub acquisitions: u64,
    /// Number of messages sent over the network.
    pub messages: u64,
    /// Number of planned faults that began.
    pub faults_fired: u32,
    /// Ids of the planned faults that began; empty in reports of older versions.
    #[serde(default)]
    pub faults_began: Vec<u32>,
    /// Fault plan of the run.
    pub plan: FaultPlan,
    /// Lengths of leases, critical sections and waits in the run, by scenario key. These lengths
    /// override the report's config.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lengths: BTreeMap<String, String>,
    /// Numbers of processes and cycles in the replay of a minimal run, which override the report's
    /// config; absent for all other runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<MinimalWorkload>,
    /// Durations of acquires, critical sections and releases, in microseconds.
    pub latency_us: Latencies,
    /// Numbers of storage requests, by result.
    pub storage: StorageTally,
    /// Violations, in order of first occurrence.
    pub violations: Vec<ViolationReport>,
    /// Comparison with the expected results; absent if no results are expected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expectation: Option<Expectation>,
    /// Events of one lock around its violations; without violations, around the faults; without
    /// faults, the first events.
    pub timeline: Vec<TimelineEntry>,
    /// Complete history of the run; absent unless requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// Checksum of `history`; absent if the report contains no history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_checksum: Option<String>,
    /// Messages sent over the network; absent unless an output format needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Output and exit status of user-supplied programs; absent if no such program used the lock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramReport>,
    /// Note on the run, such as a lock key that differs from the requested key; absent if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Hashes and versions of user-supplied programs and real servers; absent if there were none.
    #[serde(default, skip_serializing_if = "Ran::is_empty")]
    pub ran: Ran,
    /// First difference between two runs of the same programs; absent if none was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_reproducible: Option<String>,
}

impl RunReport {
    /// Returns the command line that reproduces an unexpected violation or, if there is none, the
    /// first violation.
    pub fn replay_of_deviation(&self) -> Option<&str> {
        let unexpected = self.expectation.as_ref().map_or(&[][..], |held| &held.unexpected);
        let mut violations = self.violations.iter();
        let shown = violations.find(|one| unexpected.contains(&one.violation.id));
        Some(shown.or(self.violations.first())?.replay.as_str())
    }

    pub(crate) fn drop_history(&mut self) {
        (self.history, self.history_checksum) = (None, None);
    }
}

/// Durations of acquires, critical sections and releases, in microseconds of virtual time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Latencies {
    /// Durations from the invocation of an acquire to its success; `null` if no acquire succeeded.
    pub acquire: Option<Latency>,
    /// Durations from the success of an acquire to the end of its critical section; `null` if no
    /// critical section ended.
    pub hold: Option<Latency>,
    /// Durations from the invocation of a release to its completion; `null` if none completed.
    pub release: Option<Latency>,
}

/// A distribution of durations, in microseconds. Percentiles use the nearest-rank method, so each
/// percentile is a measured duration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Median duration in microseconds.
    pub p50: u64,
    /// 99th percentile of the durations, in microseconds.
    pub p99: u64,
    /// Longest duration in microseconds.
    pub max: u64,
}

/// Numbers of storage requests, by result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct StorageTally {
    /// Number of accepted reads and writes.
    pub accepted: u64,
    /// Number of reads and writes that were rejected because of their token.
    pub rejected: u64,
    /// Number of accepted writes that arrived after a request of a later holder. Each of these
    /// writes is a `stale-write`.
    pub stale_writes: u64,
}

/// A violation with its minimal plan, threshold, necessary faults and remedies.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ViolationReport {
    /// Violation as the checkers found it, in the fields `id` to `narrative`.
    #[serde(flatten)]
    pub violation: Violation,
    /// Fault plan of the minimal run; `null` if the violation was not minimized.
    pub minimal_plan: Option<FaultPlan>,
    /// Size and digest of the minimal run; absent if the violation was not minimized.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimal_run: Option<MinimalRun>,
    /// Threshold of a fault's magnitude; `null` if none was found.
    pub boundary: Option<Boundary>,
    /// Results of the minimal run without each fault and, if the plan has at most six faults,
    /// without each pair of faults.
    #[serde(default)]
    pub but_for: Vec<ButFor>,
    /// Pairs of events of the minimal run, each with the result of swapping them; absent if no pair
    /// was swapped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub necessary_order: Vec<OrderedPair>,
    /// Effect of each safeguard that fits the run and the violation.
    #[serde(default, deserialize_with = "remedies_of_any_version")]
    pub remedies: Vec<Remedy>,
    /// Command line that reproduces the violation.
    pub replay: String,
}

/// Workload of the run of a minimal plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MinimalWorkload {
    /// Number of processes that take the lock.
    pub processes: u16,
    /// Number of cycles of each process.
    pub cycles: u32,
}

/// Run of the minimal plan. This run may have fewer processes and cycles than the original run. All
/// other settings are those of the report's config and the run's lengths.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MinimalRun {
    /// Number of processes that take the lock.
    pub processes: u16,
    /// Number of cycles of each process. A cycle is an acquire, a critical section and a release.
    pub cycles: u32,
    /// Processes involved in the violation in the minimal run, the earlier holder first. Other
    /// processes may be involved in the original run. Empty in reports of older versions.
    #[serde(default)]
    pub involved: Vec<Node>,
    /// SHA-256 of the minimal run's history, in hex, computed like the run's `history_digest`.
    pub history_digest: String,
    /// Number of runs that the search for the minimal plan used.
    pub searched_runs: u32,
    /// `false` if the search reached its limit of runs; a smaller plan may then exist.
    pub complete: bool,
}

/// Threshold of a fault's magnitude for the violation.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Boundary {
    /// `id` of the fault in the minimal plan.
    pub fault: u32,
    /// Name of the field of the fault whose value varies. The name contains the unit, as in
    /// `duration_us`, `offset_us`, `rate_ppm`, `down_us` and `extra_us_max`.
    pub quantity: String,
    /// Value at which the violation happens, in the unit of the quantity.
    pub enough: i64,
    /// Neighbouring value at which the violation does not happen, in the unit of the quantity: one
    /// step closer to zero than `enough`, or one step larger for a downtime if shorter is worse.
    pub not_enough: i64,
    /// Cause of the remaining violation, if a run with `not_enough` still breaks the rule for
    /// another cause; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_enough_cause: Option<Cause>,
    /// Calculated bound, in the unit of the quantity; `null` if no bound is known. A weaker fault
    /// cannot cause the violation in the minimal run.
    pub analytic: Option<i64>,
}

/// Result of the minimal run without one fault, or without a pair of faults.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ButFor {
    /// `id` of the removed fault in the minimal plan.
    pub fault: u32,
    /// `id` of the second removed fault; absent if only one fault was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub and_fault: Option<u32>,
    /// `true` if the violation still happens for the same cause without the removed faults.
    pub violation_without_it: bool,
    /// Cause of the remaining violation, if `violation_without_it` is `false` but the run still
    /// breaks the rule for another cause; otherwise absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cause: Option<Cause>,
}

/// Effect of one safeguard on a violation. The counts of broken runs include every run that breaks
/// the violation's rule, for any cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// Name of the safeguard, such as `fencing`, `lease` or `WAIT`.
    pub name: String,
    /// Setting that turns the safeguard on, such as `client=fencing`; for `lease`, the ttl, such as
    /// `40s`.
    pub setting: String,
    /// Effect on the violation in the same run.
    pub on_this_plan: OnThisPlan,
    /// Results of similar plans with and without the safeguard.
    pub nearby: Nearby,
    /// Number of additional seeds that break the rule with the safeguard.
    pub broken_with: u64,
    /// Number of additional seeds that break the rule without the safeguard.
    pub broken_without: u64,
    /// Number of additional seeds whose runs with the safeguard are inconclusive.
    pub unknown_with: u64,
    /// Number of additional seeds whose runs without the safeguard are inconclusive.
    pub unknown_without: u64,
    /// Number of additional seeds that were run with the same lock, faults and settings.
    pub seeds: u64,
    /// First additional seed. The seeds are consecutive, except that the report's seed is skipped.
    pub seeds_from: Seed,
}

/// Result of running the same plan with a safeguard.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnThisPlan {
    /// With the safeguard, the run does not show the violation. The run is conclusive, and the same
    /// faults hit the processes in the same state as without the safeguard.
    Gone,
    /// With the safeguard, the run still shows the violation for the same cause.
    StillThere,
    /// The two runs are not comparable, for example because the faults hit other operations, or
    /// because no process got the lock with the safeguard.
    NotComparable,
}

/// Results of plans similar to the run's plan. In a similar plan, all faults begin up to a second
/// earlier or later, or all magnitudes except downtimes are 10 % greater, or both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Nearby {
    /// Number of similar plans that were run.
    pub plans: u64,
    /// Number of similar plans that break the rule with the safeguard.
    pub broken: u64,
    /// Number of similar plans that break the rule without the safeguard.
    pub broken_without: u64,
}

fn remedies_of_any_version<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<Remedy>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Published {
        Current(Remedy),
        Former {
            #[serde(rename = "name")]
            _name: String,
            #[serde(rename = "prevents")]
            _prevents: bool,
        },
    }
    let published = Vec::<Published>::deserialize(reader)?;
    let current = published.into_iter().filter_map(|one| match one {
        Published::Current(remedy) => Some(remedy),
        Published::Former { .. } => None,
    });
    Ok(current.collect())
}

/// An event of the history with its description, and a count of the events omitted before it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TimelineEntry {
    /// Position of the event in the history, counted from 0.
    pub sequence: u64,
    /// Virtual time of the event in microseconds.
    pub time_us: SimTime,
    /// Node of the event: a process or one of its threads, a server, a Sentinel, or the storage.
    pub process: Node,
    /// The event's kind (`event`) and its fields, as in the history.
    #[serde(flatten)]
    pub what: What,
    /// Description of the event, in words.
    pub text: String,
    /// `true` if the event starts a critical section inside another critical section of the same
    /// thread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nested: bool,
    /// `true` if the event is evidence of a violation.
    pub witness: bool,
    /// Number of the lock's events omitted between the previous entry and this one.
    #[serde(default)]
    pub left_out: u64,
    /// Node of each outer critical section that began among the omitted events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out_sections: Vec<Node>,
    /// Nodes in a critical section immediately after the event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holding: Vec<Node>,
    /// Nodes in `holding` that a fault had stopped at the time of the event.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<Node>,
}
