//! The `fencepost.boundary` format: the value of a setting at which a lock breaks. The search
//! assumes that every worse value also breaks the lock.

mod explain;
mod html;
mod plot;
mod text;

pub use explain::explanation;

use crate::judge::finding::Kind;
use crate::show::view::View;
use crate::summary::report::Tool;
use crate::summary::sweep::{Cell, Rate, SeedRange};
use fencepost_faults::{Micros, Seed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

pub const FORMAT: &str = "fencepost.boundary";
pub const VERSION: u32 = 1;
pub static VIEWS: &[View<BoundaryReport>] = &[
    View::new("text", text::text),
    View::JSON,
    View::new("svg", plot::plot),
    View::new("html", html::html),
];

/// Result of a search for the value of a setting at which a lock begins to break a rule.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoundaryReport {
    /// Name of the format, always `fencepost.boundary`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format, always 1.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// Name and version of the program that wrote the document.
    pub tool: Tool,
    /// Settings of the scenario. All runs share them, except for the varied setting.
    pub config: serde_json::Value,
    /// Name of the lock, as in `--client`.
    pub client: String,
    /// Fault family, or families joined by `+`, as in `--fault`.
    pub fault: String,
    /// Rule whose violations count; `null` if violations of any rule count.
    pub kind: Option<Kind>,
    /// Seeds that were run at every tried value.
    pub seeds: SeedRange,
    /// Setting that the search varied.
    pub quantity: Quantity,
    /// Resolution of the search, in the unit of the quantity.
    pub step: u64,
    /// Results at every tried value, in ascending order of the values.
    pub probes: Vec<Probe>,
    /// Neighbouring values between which violations begin; `null` if there are no such values, or
    /// if no run at the milder value exercised the lock.
    pub found: Option<Found>,
    /// `true` if violations occur at every tried value that is worse than the mildest value with
    /// violations.
    pub monotone: bool,
    /// Calculated bounds, the tightest first; empty if no bound is known.
    pub bounds: Vec<Bound>,
    /// Comparison of the measured threshold with the calculated bounds, in a few sentences.
    pub explanation: String,
}

/// A numeric setting of the scenario.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Quantity {
    /// Name of the setting, as in `--vary`.
    pub name: String,
    /// Unit of every value of the setting in this document.
    pub unit: Unit,
    /// Direction in which values become worse for the lock.
    pub worse: Worse,
}

/// Unit of a varied setting, written as `us` or `ppm`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Microseconds.
    Us,
    /// Parts per million.
    Ppm,
}

/// Direction in which the values of a setting get worse for the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Worse {
    /// Greater values are worse.
    More,
    /// Smaller values are worse.
    Less,
}

/// Results of all seeds at one value of the varied setting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Probe {
    /// Tried value, in the unit of the quantity.
    pub value: u64,
    /// Number of runs at this value, one for each seed.
    pub runs: u64,
    /// Number of runs that exercised the lock.
    pub exercised: u64,
    /// Number of runs that exercised the lock and broke a counted rule.
    pub violated: u64,
    /// Rate of violated runs among the exercised runs.
    pub rate: Rate,
    /// Number of runs that broke each rule, including rules that this search does not count.
    pub violations_by_kind: BTreeMap<Kind, u64>,
    /// Lowest seed with a violation of a counted rule; `null` if there is none.
    pub first_seed: Option<Seed>,
}

/// Two adjacent values among those tried. Only the worse value shows violations.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// Mildest tried value with violations, in the unit of the quantity.
    pub violated: u64,
    /// Next milder tried value, in the unit of the quantity, at which no run broke a counted rule.
    pub quiet: u64,
}

/// A bound on the threshold, calculated from the settings.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Bound {
    /// Mildest value that can break the rule by this calculation, in the unit of the quantity.
    pub value: u64,
    /// Condition from which the bound follows, such as that two times add up to at most the lease.
    pub rule: String,
    /// Reason why random seeds may show violations only at worse values than the bound.
    pub slack: String,
}

impl Probe {
    pub fn of(value: u64, cell: &Cell, kind: Option<Kind>) -> Probe {
        let violated = match kind {
            Some(kind) => cell.violations_by_kind.get(&kind).copied().unwrap_or(0),
            None => cell.violated,
        };
        let exercised = cell.valid + cell.violated;
        let first =
            cell.first_seed.iter().filter(|(known, _)| kind.is_none_or(|kind| kind == **known));
        Probe {
            value,
            runs: cell.runs,
            exercised,
            violated,
            rate: Rate::of(violated, exercised),
            violations_by_kind: cell.violations_by_kind.clone(),
            first_seed: first.map(|(_, seed)| *seed).min(),
        }
    }
}

impl Quantity {
    pub fn is_worse(&self, one: u64, other: u64) -> bool {
        match self.worse {
            Worse::More => one > other,
            Worse::Less => one < other,
        }
    }

    pub fn show(&self, value: u64) -> String {
        match self.unit {
            Unit::Us => Micros(value).to_string(),
            Unit::Ppm => format!("{value}ppm"),
        }
    }
}

/// Returns the mildest value that breaks the lock and the next milder value. Returns `None` if
/// either is missing, or if no run at the milder value exercised the lock.
pub fn found(quantity: &Quantity, probes: &[Probe]) -> Option<Found> {
    let sorted = by_mildness(quantity, probes);
    let first = sorted.iter().position(|probe| probe.violated > 0)?;
    let quiet = sorted.get(first.checked_sub(1)?)?;
    (quiet.exercised > 0).then_some(Found { violated: sorted[first].value, quiet: quiet.value })
}

pub fn is_monotone(quantity: &Quantity, probes: &[Probe]) -> bool {
    let sorted = by_mildness(quantity, probes);
    let first = sorted.iter().position(|probe| probe.violated > 0).unwrap_or(sorted.len());
    sorted[first..].iter().all(|probe| probe.violated > 0)
}

fn by_mildness<'p>(quantity: &Quantity, probes: &'p [Probe]) -> Vec<&'p Probe> {
    let mut sorted: Vec<&Probe> = probes.iter().collect();
    sorted.sort_by_key(|probe| probe.value);
    if quantity.worse == Worse::Less {
        sorted.reverse();
    }
    sorted
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn quantity(worse: Worse) -> Quantity {
        Quantity { name: "restart-delay".to_owned(), unit: Unit::Us, worse }
    }

    pub(crate) fn probe(value: u64, violated: u64) -> Probe {
        let rate = Rate::of(violated, 10);
        let violations_by_kind = BTreeMap::new();
        Probe {
            value,
            runs: 10,
            exercised: 10,
            violated,
            rate,
            violations_by_kind,
            first_seed: None,
        }
    }

    pub(crate) fn report() -> BoundaryReport {
        let (quantity, probes) =
            (quantity(Worse::More), vec![probe(2_000_000, 0), probe(3_000_000, 4)]);
        BoundaryReport {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: crate::samples::tool(),
            config: serde_json::json!({}),
            client: "redlock".to_owned(),
            fault: "restart".to_owned(),
            kind: Some(Kind::Overlap),
            seeds: SeedRange { from: Seed(0), to: Seed(10) },
            step: 1_000,
            found: found(&quantity, &probes),
            monotone: is_monotone(&quantity, &probes),
            quantity,
            probes,
            bounds: vec![Bound {
                value: 2_500_000,
                rule: "a lease of 10 s".to_owned(),
                slack: "a pause is rare".to_owned(),
            }],
            explanation: "Seen 500 ms beyond the bound.".to_owned(),
        }
    }

    #[test]
    fn a_page_shows_every_value_the_bound_and_whether_the_search_was_right() {
        let page = |report: &BoundaryReport| html::html(report);
        let (right, wrong) = (report(), BoundaryReport { monotone: false, ..report() });
        let shown = page(&right);
        for words in ["0 of 10", "4 of 10", "bound 2.5s", "<svg", "confirm the assumption"] {
            assert!(shown.contains(words), "{words} is missing");
        }
        assert!(!shown.contains("contradict the assumption"));
        assert!(page(&wrong).contains("contradict the assumption"));
    }

    #[test]
    fn the_mildest_violated_value_and_its_milder_neighbour_are_the_boundary() {
        let probes = [probe(4, 0), probe(1, 9), probe(3, 0), probe(2, 1)];
        assert_eq!(found(&quantity(Worse::Less), &probes), Some(Found { violated: 2, quiet: 3 }));
        let rising = [probe(1, 0), probe(2, 0), probe(3, 1), probe(4, 5)];
        assert_eq!(found(&quantity(Worse::More), &rising), Some(Found { violated: 3, quiet: 2 }));
    }

    #[test]
    fn without_both_sides_there_is_no_boundary() {
        assert_eq!(found(&quantity(Worse::More), &[probe(1, 0), probe(2, 0)]), None);
        assert_eq!(found(&quantity(Worse::More), &[probe(1, 1), probe(2, 0)]), None);
        let unexercised = Probe { exercised: 0, ..probe(1, 0) };
        assert_eq!(
            found(&quantity(Worse::More), &[unexercised, probe(2, 3)]),
            None,
            "nothing was exercised there"
        );
    }

    #[test]
    fn a_quiet_value_beyond_a_violated_one_is_told() {
        assert!(is_monotone(&quantity(Worse::More), &[probe(1, 0), probe(2, 3), probe(3, 1)]));
        assert!(!is_monotone(&quantity(Worse::More), &[probe(1, 0), probe(2, 3), probe(3, 0)]));
        assert!(!is_monotone(&quantity(Worse::Less), &[probe(1, 0), probe(2, 3), probe(3, 0)]));
        assert!(is_monotone(&quantity(Worse::Less), &[probe(1, 0)]));
    }
}
