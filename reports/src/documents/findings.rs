//! The `fencepost.findings` format: a header and the findings of several sweeps, one per line.

mod counted;
mod list;
mod read;

pub use counted::Counted;
pub use list::VIEWS;
pub use read::BadLine;

use crate::explain::cause::Cause;
use crate::judge::finding::Kind;
use crate::summary::sweep::{Cell, FindingState, Fingerprint, SeedRange, Shard, Sweep, runs_of};
use fencepost_faults::{FaultPlan, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub const FORMAT: &str = "fencepost.findings";
pub const VERSION: u32 = 1;
const SHOWN_MAX: usize = 5;

/// A line of a findings file: the header, or one finding.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Line {
    /// Header, on the first line.
    Header(Header),
    /// One finding, on each line after the header.
    Finding(Box<Finding>),
}

/// Header of a findings file: the format, its version, and the next seed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// Name of the format, always `fencepost.findings`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format, always 1.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// First seed of the next sweep with `--seeds +N`: the first seed that a stopped sweep did not
    /// run, or one more than the highest seed of all whole sweeps, or 0. Shards do not count.
    pub next_seed: Seed,
}

/// An anomaly of one lock: a broken rule and its cause.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Finding {
    /// Stable fingerprint of the lock, the broken rule and the cause.
    pub id: String,
    /// State after the last sweep, retest or acceptance.
    pub state: FindingState,
    /// Name of the lock, as in `--client`.
    pub client: String,
    /// Rule that the lock broke.
    pub kind: Kind,
    /// Cause of the violation; `unexplained` if the evidence does not show the cause.
    pub cause: Cause,
    /// Day on which a sweep first found the anomaly, as YYYY-MM-DD.
    pub first_seen: String,
    /// Last day on which a run showed the anomaly, as YYYY-MM-DD.
    pub last_seen: String,
    /// Day on which a retest no longer showed the anomaly, as YYYY-MM-DD; absent unless `fixed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixed_on: Option<String>,
    /// Number of different runs, in all sweeps, that showed the anomaly; a lower bound if sweeps
    /// overlap partly.
    pub runs: u64,
    /// Seeds that `runs` counts; absent in files of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub counted: Vec<Counted>,
    /// Runs that show the anomaly, the smallest first; up to five for each set of options.
    pub shown_by: Vec<Shown>,
    /// Command-line flags of the smallest run; empty for the built-in scenario.
    pub options: String,
    /// Sets of flags with which the last retest did not show the anomaly. If all sets in `shown_by`
    /// are in this list, the finding becomes `fixed`. Absent if there are none.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub gone_with: BTreeSet<String>,
    /// Command line that replays the smallest run.
    pub replay: String,
    /// Minimal fault plan that shows the anomaly; absent if fencepost did not search for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<FaultPlan>,
    /// Reason for accepting the finding, as given by the user; absent if none was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A run that shows a finding. Runs are ordered by number of faults, then by seed, fault and
/// options.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// Number of faults in the plan of the run.
    pub faults: u64,
    /// Seed of the run.
    pub seed: Seed,
    /// Fault family, or families joined by `+`, as in `--fault`.
    pub fault: String,
    /// Command-line flags of the run; empty for the built-in scenario. Absent if they equal the
    /// finding's `options`.
    #[serde(default)]
    pub options: String,
}

/// Results of repeating the runs of findings with one set of options.
pub struct Retest<'r> {
    pub options: &'r str,
    /// For each finding, whether a repeated run shows it.
    pub shown: &'r BTreeMap<String, bool>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Findings {
    next_seed: Seed,
    all: BTreeMap<String, Finding>,
}

pub fn options_of(sweep: &Sweep) -> &str {
    let options = sweep.config.get("options").and_then(serde_json::Value::as_str);
    common_options(options.unwrap_or_default())
}

/// Removes a final `--no-config`, which a replay command needs but a finding's options do not.
pub fn common_options(flags: &str) -> &str {
    flags.trim().trim_end_matches("--no-config").trim_end()
}

impl Default for Findings {
    fn default() -> Findings {
        Findings { next_seed: Seed(0), all: BTreeMap::new() }
    }
}

impl Findings {
    pub fn next_seed(&self) -> Seed {
        self.next_seed
    }

    pub fn by_urgency(&self) -> Vec<&Finding> {
        let mut all: Vec<&Finding> = self.all.values().collect();
        all.sort_by_key(|one| (one.state, &one.client, one.kind, one.cause));
        all
    }

    pub fn get(&self, id: &str) -> Option<&Finding> {
        self.all.get(id)
    }

    /// Removes findings that were fixed before `day`, a date as YYYY-MM-DD. Returns their number.
    pub fn leave_out_fixed_before(&mut self, day: &str) -> usize {
        let before = self.all.len();
        self.all.retain(|_, one| one.fixed_on.as_deref().is_none_or(|fixed| fixed >= day));
        before - self.all.len()
    }

    pub fn counts(&self) -> BTreeMap<FindingState, usize> {
        let mut counts = BTreeMap::new();
        for one in self.all.values() {
            *counts.entry(one.state).or_default() += 1;
        }
        counts
    }

    /// Marks new findings as known, then adds a sweep of `day`. Returns the sweep's fingerprints.
    ///
    /// Only a whole sweep advances the next seed, so that all shards with `--seeds +N` get the same
    /// range. A stopped sweep advances it to the first seed that it did not run.
    pub fn add(&mut self, sweep: &Sweep, day: &str) -> BTreeSet<String> {
        for known in self.all.values_mut().filter(|one| one.state == FindingState::New) {
            known.state = FindingState::Known;
        }
        if sweep.shard.count <= Shard::WHOLE.count {
            let missing = sweep.missing();
            let end = missing.first().map_or(sweep.seeds.to, |missing| missing.from);
            self.next_seed = self.next_seed.max(end);
        }
        let mut seen = BTreeSet::new();
        for cell in &sweep.cells {
            for found in &cell.fingerprints {
                let known = self.all.remove(&found.id);
                let finding = known.unwrap_or_else(|| Finding::first(found, &cell.client, day));
                let finding = finding.reopened(day).seen(found, sweep, cell, day);
                seen.insert(found.id.clone());
                self.all.insert(found.id.clone(), finding);
            }
        }
        seen
    }

    /// Reopens fixed findings that a retest showed again. Marks open findings as fixed if no retest
    /// shows them with any of their options, unless they are in `seen`.
    pub fn enter_retest(&mut self, retest: &Retest<'_>, seen: &BTreeSet<String>, day: &str) {
        for (id, is_shown) in retest.shown {
            let Some(mut finding) = self.all.remove(id) else { continue };
            let is_open = [FindingState::New, FindingState::Known].contains(&finding.state);
            if *is_shown {
                finding = finding.reopened(day);
                finding.gone_with.remove(retest.options);
                day.clone_into(&mut finding.last_seen);
            } else if is_open && !seen.contains(id) {
                finding = finding.gone(retest.options, day);
            }
            self.all.insert(id.clone(), finding);
        }
    }

    pub fn accept(&mut self, id: &str, note: Option<&str>) -> bool {
        let Some(finding) = self.all.get_mut(id) else { return false };
        finding.state = FindingState::Accepted;
        finding.fixed_on = None;
        finding.gone_with.clear();
        if let Some(note) = note {
            finding.note = Some(note.to_owned());
        }
        true
    }

    pub fn mark(&self, sweep: &mut Sweep) {
        let found = sweep.cells.iter_mut().flat_map(|cell| &mut cell.fingerprints);
        for one in found {
            one.state = self.get(&one.id).map(|known| known.state);
        }
    }
}

impl Finding {
    fn first(found: &Fingerprint, client: &str, day: &str) -> Finding {
        Finding {
            id: found.id.clone(),
            state: FindingState::New,
            client: client.to_owned(),
            kind: found.kind,
            cause: found.cause,
            first_seen: day.to_owned(),
            last_seen: day.to_owned(),
            fixed_on: None,
            runs: 0,
            counted: Vec::new(),
            shown_by: Vec::new(),
            options: String::new(),
            gone_with: BTreeSet::new(),
            replay: String::new(),
            plan: None,
            note: None,
        }
    }

    fn reopened(mut self, day: &str) -> Finding {
        if self.state == FindingState::Fixed {
            let is_fresh = self.fixed_on.as_deref() == Some(day);
            self.state = if is_fresh { FindingState::Known } else { FindingState::New };
            self.fixed_on = None;
            self.gone_with = self.all_options();
        }
        self
    }

    /// Adds `options` to `gone_with`. Marks the finding as fixed if it covers the options of all
    /// runs.
    fn gone(mut self, options: &str, day: &str) -> Finding {
        self.gone_with.insert(options.to_owned());
        if self.all_options().is_subset(&self.gone_with) {
            self.state = FindingState::Fixed;
            self.fixed_on = Some(day.to_owned());
            self.gone_with.clear();
        }
        self
    }

    fn all_options(&self) -> BTreeSet<String> {
        self.shown_by.iter().map(|shown| shown.options.clone()).collect()
    }

    /// Returns the runs with these options. With other options, a seed gives another run.
    pub fn runs_with<'f>(&'f self, options: &'f str) -> impl Iterator<Item = &'f Shown> {
        self.shown_by.iter().filter(move |shown| shown.options == options)
    }

    fn seen(mut self, found: &Fingerprint, sweep: &Sweep, cell: &Cell, day: &str) -> Finding {
        let options = options_of(sweep);
        self.gone_with.remove(options);
        let smallest = self.shown_by.first().cloned();
        self.shown_by.extend(found.runs_kept().into_iter().map(|kept| Shown {
            faults: kept.faults,
            seed: kept.seed,
            fault: cell.fault.clone(),
            options: options.to_owned(),
        }));
        self.shown_by.sort();
        self.shown_by.dedup();
        let mut kept: BTreeMap<String, usize> = BTreeMap::new();
        self.shown_by.retain(|shown| {
            let count = kept.entry(shown.options.clone()).or_default();
            *count += 1;
            *count <= SHOWN_MAX
        });
        let is_smaller = self.shown_by.first() != smallest.as_ref();
        let has_same_options = self.options == options;
        let plan = found.report.as_deref().and_then(|report| report.minimal_plan.clone());
        if let Some(shown) = self.shown_by.first().filter(|_| is_smaller) {
            self.replay = sweep.replay(cell, shown.seed);
            options.clone_into(&mut self.options);
            self.plan = plan.or(self.plan.filter(|_| has_same_options));
        } else if has_same_options {
            self.plan = self.plan.or(plan);
        }
        self.count(found.runs, &runs_of(sweep), (&cell.fault, options));
        day.clone_into(&mut self.last_seen);
        self
    }

    fn count(&mut self, runs: u64, seeds: &[SeedRange], (fault, options): (&str, &str)) {
        let is_same = |one: &Counted| one.fault == fault && one.options == options;
        let place = self.counted.iter().position(is_same).unwrap_or_else(|| {
            self.counted.push(Counted::none(fault, options));
            self.counted.len() - 1
        });
        self.runs = self.runs.saturating_add(self.counted[place].add(seeds, runs));
    }
}

#[cfg(test)]
mod tests;
