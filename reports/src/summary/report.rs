//! The `fencepost.report` format, version 2: what `run --format json` prints.
//!
//! Version 1 had other remedies: whether the safeguard "prevents" the violation in one run. Reading
//! drops them.

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

/// The `format` field of a report.
pub const FORMAT: &str = "fencepost.report";
/// The version of the format that this build writes; it reads version 1 too.
pub const VERSION: u32 = 2;

/// What one seed showed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always `fencepost.report`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Always 2.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// What wrote it.
    pub tool: Tool,
    /// The seed that everything was drawn from.
    pub seed: Seed,
    /// The families of faults, as `--fault` names them.
    pub faults: Vec<String>,
    /// `turmoil` or `fast`.
    pub engine: String,
    /// Everything else that is needed to replay.
    pub config: serde_json::Value,
    /// One entry for each client and fault.
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

/// What one client did under one plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunReport {
    /// The lock, as `--client` names it.
    pub client: String,
    /// The family or families, as `--fault` names them.
    pub fault: String,
    /// `verdict`, and for `unknown` the `reason`.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// What the literature says about this client under this fault.
    pub expected: Option<Expected>,
    /// SHA-256 of the history, in hex.
    pub history_digest: String,
    /// How much virtual time the run took.
    pub virtual_time_us: SimTime,
    /// How many operations were invoked.
    pub operations: u64,
    /// How many acquires succeeded.
    pub acquisitions: u64,
    /// How many messages passed the network.
    pub messages: u64,
    /// How many faults of the plan were fired.
    pub faults_fired: u32,
    /// The plan.
    pub plan: FaultPlan,
    /// How long leases, holds and waits were, by key of the scenario, where the seed draws that
    /// (`all`). They come before the report's config.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lengths: BTreeMap<String, String>,
    /// How long the steps of a cycle took.
    pub latency_us: Latencies,
    /// What the storage was asked and how it answered.
    pub storage: StorageTally,
    /// What was broken.
    pub violations: Vec<ViolationReport>,
    /// How it was held against what should come out, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expectation: Option<Expectation>,
    /// The events around the violations, for people.
    pub timeline: Vec<TimelineEntry>,
    /// The whole history, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
    /// The checksum of `history`, see `fencepost_reports::record::checksum`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_checksum: Option<String>,
    /// The messages on the wire, if a format asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// What the user's own programs printed and how they ended, if the lock is in such.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ProgramReport>,
    /// What is to be said of how the run was judged: by which key, if not by the one that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What these programs were made of.
    #[serde(default, skip_serializing_if = "Ran::is_empty")]
    pub ran: Ran,
    /// The first system call in which two runs of the same programs differed, if they did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_reproducible: Option<String>,
}

impl RunReport {
    /// Removes the history from a copy.
    pub(crate) fn drop_history(&mut self) {
        (self.history, self.history_checksum) = (None, None);
    }
}

/// How long acquiring, holding and releasing took, in true microseconds; `null` where it never
/// happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Latencies {
    /// From an acquire's invocation to its ok.
    pub acquire: Option<Latency>,
    /// From an acquire's ok to the end of its section.
    pub hold: Option<Latency>,
    /// From a release's invocation to its completion.
    pub release: Option<Latency>,
}

/// A distribution of spans, in microseconds. Percentiles are nearest-rank: each is a span that was
/// measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Half are no longer.
    pub p50: u64,
    /// 99 in 100 are no longer.
    pub p99: u64,
    /// None is longer.
    pub max: u64,
}

/// What the storage was asked and how it answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct StorageTally {
    /// Reads and writes that it accepted.
    pub accepted: u64,
    /// Reads and writes that it rejected for their token.
    pub rejected: u64,
    /// Accepted writes that came too late: each is a `stale-write`.
    pub stale_writes: u64,
}

/// A violation with what re-running it showed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ViolationReport {
    /// What the checkers found.
    #[serde(flatten)]
    pub violation: Violation,
    /// The smallest plan that still shows it; `null` if it was not searched.
    pub minimal_plan: Option<FaultPlan>,
    /// How much smaller the run of the minimal plan is, and what it showed; absent if it was not
    /// searched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimal_run: Option<MinimalRun>,
    /// How much of the decisive magnitude is just enough; `null` if it was not searched or there is
    /// none.
    pub boundary: Option<Boundary>,
    /// Each fault of the minimal plan, and whether the violation is there without it.
    #[serde(default)]
    pub but_for: Vec<ButFor>,
    /// Pairs of neighbouring events of the minimal run, and whether the violation is there if they
    /// change places; absent if it was not searched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub necessary_order: Vec<OrderedPair>,
    /// Each safeguard that fits the run, and what became of the violation with it.
    #[serde(default, deserialize_with = "remedies_of_any_version")]
    pub remedies: Vec<Remedy>,
    /// The one command that shows it again.
    pub replay: String,
}

/// The run of the minimal plan: everything else as in the report's config and the run's lengths,
/// but with fewer processes and cycles.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MinimalRun {
    /// How many processes take the lock.
    pub processes: u16,
    /// How many cycles each of them has.
    pub cycles: u32,
    /// SHA-256 of the history of that run, in hex.
    pub history_digest: String,
    /// How many runs the search took.
    pub searched_runs: u32,
    /// Whether the plan is locally minimal. False if the search ended at its bound of runs: then
    /// the plan shows the violation all the same, but may not be the smallest.
    pub complete: bool,
}

/// How much of a magnitude is just enough to break the rule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Boundary {
    /// The fault whose magnitude it is.
    pub fault: u32,
    /// Which of its fields: `duration_us`, `offset_us`, `rate_ppm`, `down_us`; the name says the
    /// unit.
    pub quantity: String,
    /// With this much the violation is there.
    pub enough: i64,
    /// With this, one step on, it is not: a step less, or, where less is worse (how long a server
    /// stays away), a step more.
    pub not_enough: i64,
    /// What arithmetic demands, whatever else happens: the violation cannot be there with less
    /// (where less is worse: with more).
    pub analytic: Option<i64>,
}

/// What happens without one fault.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ButFor {
    /// The fault that was left out.
    pub fault: u32,
    /// Another fault that was left out with it, if a pair was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub and_fault: Option<u32>,
    /// Whether the violation is there without it. False makes the fault a cause.
    pub violation_without_it: bool,
}

/// What happened with one safeguard on. A run is broken if it breaks the violation's rule, for
/// whatever cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Remedy {
    /// The safeguard.
    pub name: String,
    /// What it was set to: `40s`, `client=fencing`.
    pub setting: String,
    /// What became of the violation in the run that shows it.
    pub on_this_plan: OnThisPlan,
    /// How many plans near this one break the rule.
    pub nearby: Nearby,
    /// How many other seeds break the rule with the safeguard.
    pub broken_with: u64,
    /// How many of the same seeds break it without.
    pub broken_without: u64,
    /// How many of these runs with the safeguard are `unknown`: they exercised nothing and so say
    /// nothing for it.
    pub unknown_with: u64,
    /// The same without the safeguard.
    pub unknown_without: u64,
    /// How many other seeds of the same lock, faults and settings were run.
    pub seeds: u64,
    /// The first of them; they are consecutive, the run's own left out.
    pub seeds_from: Seed,
}

/// What became of a violation in the run that shows it, with a safeguard on.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum OnThisPlan {
    /// The rule is kept, by a run that exercised the lock and in which the same faults met the
    /// processes where they were without the safeguard.
    Gone,
    /// The same rule is broken all the same.
    StillThere,
    /// The rule is kept, but by another run: the faults met other operations, or nobody got the
    /// lock.
    NotComparable,
}

/// The plans near a plan: all faults up to a second earlier or later, as hard or a tenth harder.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Nearby {
    /// How many were run.
    pub plans: u64,
    /// How many break the rule with the safeguard.
    pub broken: u64,
    /// How many break it without.
    pub broken_without: u64,
}

/// Remedies of this version; drops those of version 1.
fn remedies_of_any_version<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<Remedy>, D::Error> {
    /// Serde tries the variants in order: this version first, then the one before.
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

/// An event as people read it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TimelineEntry {
    /// Position in the history.
    pub sequence: u64,
    /// True time.
    pub time_us: SimTime,
    /// Where it happened.
    pub process: Node,
    /// What happened.
    #[serde(flatten)]
    pub what: What,
    /// The same in words.
    pub text: String,
    /// Whether it opens a section inside another of the same thread.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nested: bool,
    /// Whether it is part of a violation's witness.
    pub witness: bool,
    /// How many events of the history were left out between the entry before and this one.
    #[serde(default)]
    pub left_out: u64,
    /// Whose sections began among those that were left out, once for each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out_sections: Vec<Node>,
    /// Who was in a critical section right after the event, by the whole history.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holding: Vec<Node>,
    /// Which of these were on a machine that a fault had stopped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<Node>,
}
