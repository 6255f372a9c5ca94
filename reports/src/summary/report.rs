//! The `fencepost.report` format, version 2: the [`Report`] that `run --format json` prints.
//!
//! In version 1, a remedy only stated whether a safeguard prevents the violation in one run. The
//! reader drops such remedies.

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

/// Value of the `format` field of a report.
pub const FORMAT: &str = "fencepost.report";
/// Version of the format that this build writes. This build also reads version 1.
pub const VERSION: u32 = 2;

/// The runs of one seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always `fencepost.report`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Always 2.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// The program that wrote the report.
    pub tool: Tool,
    /// The seed of all random values.
    pub seed: Seed,
    /// The fault families, as in `--fault`.
    pub faults: Vec<String>,
    /// `turmoil` or `fast`.
    pub engine: String,
    /// The other settings needed for a replay.
    pub config: serde_json::Value,
    /// One entry for each client and fault family.
    pub runs: Vec<RunReport>,
}

/// A program and its version.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `fencepost`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// One client's run under one fault plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunReport {
    /// The lock, as in `--client`.
    pub client: String,
    /// The fault family or families, as in `--fault`.
    pub fault: String,
    /// `verdict`, and a `reason` if it is `unknown`.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The literature's prediction for this client under this fault.
    pub expected: Option<Expected>,
    /// SHA-256 of the history, in hex.
    pub history_digest: String,
    /// Virtual duration of the run.
    pub virtual_time_us: SimTime,
    /// Number of operations invoked.
    pub operations: u64,
    /// Number of successful acquires.
    pub acquisitions: u64,
    /// Number of messages sent over the network.
    pub messages: u64,
    /// Number of faults of the plan that began.
    pub faults_fired: u32,
    /// The plan.
    pub plan: FaultPlan,
    /// Lengths of leases, critical sections and waits that the seed drew (`all`), by scenario key.
    /// They override the report's config.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lengths: BTreeMap<String, String>,
    /// Durations of the steps of a cycle.
    pub latency_us: Latencies,
    /// Counts of storage requests.
    pub storage: StorageTally,
    /// The violations.
    pub violations: Vec<ViolationReport>,
    /// The comparison with the expectation, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expectation: Option<Expectation>,
    /// The events around the violations, described for people.
    pub timeline: Vec<TimelineEntry>,
    /// The full history, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// The checksum of `history`; see `fencepost_reports::record::checksum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_checksum: Option<String>,
    /// The messages on the network, if a format needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Output and exit status of the user's own programs, if they use the lock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramReport>,
    /// A note on how the run was judged, such as the lock key used if it is not the one given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Commands and file hashes of these programs.
    #[serde(default, skip_serializing_if = "Ran::is_empty")]
    pub ran: Ran,
    /// The first system call that differed between two runs of the same programs, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_reproducible: Option<String>,
}

impl RunReport {
    pub(crate) fn drop_history(&mut self) {
        (self.history, self.history_checksum) = (None, None);
    }
}

/// Durations of acquires, critical sections and releases, in microseconds of true time; `null` if
/// there were none.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Latencies {
    /// From an acquire's invocation to its ok.
    pub acquire: Option<Latency>,
    /// From an acquire's ok to the end of its critical section.
    pub hold: Option<Latency>,
    /// From a release's invocation to its completion.
    pub release: Option<Latency>,
}

/// A distribution of durations, in microseconds. Percentiles are nearest-rank: each is a measured
/// duration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Half of the durations are at most this long.
    pub p50: u64,
    /// 99 % of the durations are at most this long.
    pub p99: u64,
    /// The longest duration.
    pub max: u64,
}

/// Counts of storage requests.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct StorageTally {
    /// Accepted reads and writes.
    pub accepted: u64,
    /// Reads and writes rejected because of their token.
    pub rejected: u64,
    /// Accepted writes that arrived too late; each is a `stale-write`.
    pub stale_writes: u64,
}

/// A violation and the results of its diagnostic runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ViolationReport {
    /// The checkers' finding.
    #[serde(flatten)]
    pub violation: Violation,
    /// The smallest plan that still shows the violation; `null` if there was no search.
    pub minimal_plan: Option<FaultPlan>,
    /// The size and digest of the minimal plan's run; absent if there was no search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimal_run: Option<MinimalRun>,
    /// The threshold of the decisive magnitude; `null` if there was no search or there is none.
    pub boundary: Option<Boundary>,
    /// For each fault of the minimal plan: whether the violation still happens without it.
    #[serde(default)]
    pub but_for: Vec<ButFor>,
    /// Pairs of neighbouring events of the minimal run, and whether the violation still happens in
    /// reverse order; absent if there was no search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub necessary_order: Vec<OrderedPair>,
    /// For each safeguard that applies to the run: its effect on the violation.
    #[serde(default, deserialize_with = "remedies_of_any_version")]
    pub remedies: Vec<Remedy>,
    /// The command that reproduces the violation.
    pub replay: String,
}

/// The run of the minimal plan. It has fewer processes and cycles; everything else is as in the
/// report's config and the run's lengths.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MinimalRun {
    /// Number of processes that take the lock.
    pub processes: u16,
    /// Number of cycles of each process.
    pub cycles: u32,
    /// SHA-256 of that run's history, in hex.
    pub history_digest: String,
    /// Number of runs in the search.
    pub searched_runs: u32,
    /// `true` if the plan is locally minimal. If the search reached its limit of runs, the plan
    /// shows the violation but may not be minimal.
    pub complete: bool,
}

/// The threshold of a magnitude at which the rule breaks.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Boundary {
    /// The id of the fault with this magnitude.
    pub fault: u32,
    /// The field: `duration_us`, `offset_us`, `rate_ppm` or `down_us`. Its suffix is the unit.
    pub quantity: String,
    /// The violation happens with this value.
    pub enough: i64,
    /// The violation does not happen with this value, one step away: a step less, or a step more
    /// where less is worse (a server's downtime).
    pub not_enough: i64,
    /// The calculated bound: in no run can the violation happen with less (or with more, where less
    /// is worse).
    pub analytic: Option<i64>,
}

/// The result without one fault.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ButFor {
    /// The id of the removed fault.
    pub fault: u32,
    /// The id of the other removed fault, if a pair was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub and_fault: Option<u32>,
    /// `true` if the violation still happens. Otherwise the fault is a cause.
    pub violation_without_it: bool,
}

/// The effect of one safeguard. A run is broken if it breaks the violation's rule, for any cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// The safeguard.
    pub name: String,
    /// Its setting: `40s`, `client=fencing`.
    pub setting: String,
    /// Its effect on the violation in this run.
    pub on_this_plan: OnThisPlan,
    /// Number of similar plans that break the rule.
    pub nearby: Nearby,
    /// Number of other seeds that break the rule with the safeguard.
    pub broken_with: u64,
    /// Number of the same seeds that break it without the safeguard.
    pub broken_without: u64,
    /// Number of `unknown` runs with the safeguard: they did not exercise the lock, so they are no
    /// evidence.
    pub unknown_with: u64,
    /// Number of `unknown` runs without the safeguard.
    pub unknown_without: u64,
    /// Number of other seeds run with the same lock, faults and settings.
    pub seeds: u64,
    /// The first of these seeds. They are consecutive and skip the run's own seed.
    pub seeds_from: Seed,
}

/// The effect of a safeguard on the violation in its own run.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum OnThisPlan {
    /// The run keeps the rule. It exercised the lock, and the same faults hit the processes at the
    /// same points as without the safeguard.
    Gone,
    /// The run still breaks the rule.
    StillThere,
    /// The run keeps the rule but is a different run: the faults hit other operations, or no
    /// process got the lock.
    NotComparable,
}

/// Plans similar to the run's: all faults up to a second earlier or later, of the same or a tenth
/// greater magnitude.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Nearby {
    /// Number of plans run.
    pub plans: u64,
    /// Number that break the rule with the safeguard.
    pub broken: u64,
    /// Number that break it without the safeguard.
    pub broken_without: u64,
}

fn remedies_of_any_version<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<Remedy>, D::Error> {
    /// Serde tries the variants in order, so the current version comes first.
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

/// An event, described for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TimelineEntry {
    /// Position in the history.
    pub sequence: u64,
    /// True time.
    pub time_us: SimTime,
    /// The node where it happened.
    pub process: Node,
    /// The event.
    #[serde(flatten)]
    pub what: What,
    /// The event in words.
    pub text: String,
    /// `true` if it starts a critical section inside another one of the same thread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nested: bool,
    /// `true` if it is evidence of a violation.
    pub witness: bool,
    /// Number of events omitted between the previous entry and this one.
    #[serde(default)]
    pub left_out: u64,
    /// The nodes whose critical sections began among the omitted events, one entry for each
    /// section.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out_sections: Vec<Node>,
    /// The nodes in a critical section right after the event, according to the full history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holding: Vec<Node>,
    /// Those of them on a machine that a fault had stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<Node>,
}
