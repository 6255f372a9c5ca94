//! Which cells CI must hear of, and in which words. Must never know how CI is told.

use super::{Cell, Sweep};
use fencepost_faults::Seed;

/// How a cell stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Nothing to say: quiet, or as expected.
    Passed,
    /// Violated, or not as expected.
    Failed,
    /// Nothing was exercised, so nothing is known.
    Unknown,
}

impl Cell {
    /// How the cell stands: by what was expected of it if anything was, else by its verdicts.
    pub fn standing(&self) -> Standing {
        match &self.expectation {
            Some(held) if held.is_met() => Standing::Passed,
            Some(_) => Standing::Failed,
            None if self.violated > 0 => Standing::Failed,
            None if self.valid == 0 => Standing::Unknown,
            None => Standing::Passed,
        }
    }

    /// The cell in a sentence.
    pub fn in_words(&self) -> String {
        let deviations: Vec<&str> =
            self.expectation.iter().flat_map(|held| &held.deviations).map(String::as_str).collect();
        if let (Some(held), false) = (&self.expectation, deviations.is_empty()) {
            return format!("expected {}, got {}", held.expected, deviations.join("; "));
        }
        let found: Vec<String> = self
            .violations_by_kind
            .iter()
            .map(|(kind, runs)| format!("{kind} in {runs}"))
            .collect();
        match (self.violated, self.valid) {
            (1.., _) => {
                format!("{} of {} runs violated: {}", self.violated, self.runs, found.join(", "))
            }
            (0, 0) => format!("nothing was exercised in {} runs", self.runs),
            (0, _) => format!("nothing violated in {} runs", self.runs),
        }
    }

    /// The seed to look at first: the smallest run of any anomaly.
    pub fn seed_to_show(&self) -> Option<Seed> {
        self.fingerprints.iter().map(|found| found.smallest).min().map(|smallest| smallest.seed)
    }
}

impl Sweep {
    /// The command that shows one run of a cell again.
    pub fn replay(&self, cell: &Cell, seed: Seed) -> String {
        let options =
            self.config.get("options").and_then(serde_json::Value::as_str).unwrap_or_default();
        let command = format!(
            "fencepost --seed {seed} --client {} --fault {} {options}",
            cell.client, cell.fault
        );
        command.trim_end().to_owned()
    }
}
