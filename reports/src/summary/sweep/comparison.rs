//! The `fencepost.compare` format: a comparison of two locks or sweeps with significance tests.

pub(crate) mod fisher;

use super::{Cell, Rate, SeedRange, Sweep};
use crate::explain::cause::Cause;
use crate::judge::finding::Kind;
use crate::summary::report::Tool;
use fisher::{Hits, p_value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const FORMAT: &str = "fencepost.compare";
const VERSION: u32 = 1;

/// Significance level of the whole comparison, divided among the pairs (Bonferroni correction).
pub const LEVEL: f64 = 0.05;

/// A comparison of two locks or two sweeps, cell by cell.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Name of the format, always `fencepost.compare`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format, always 1.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// Name and version of the program that made the comparison.
    pub tool: Tool,
    /// First lock or sweep on the command line, or the sweep of `--baseline`.
    pub a: Side,
    /// Second lock or sweep on the command line, or the new sweep compared with the baseline.
    pub b: Side,
    /// Settings that differ between the two sides.
    pub settings: Vec<Setting>,
    /// Compared cells, in pairs with the same faults.
    pub pairs: Vec<Pair>,
    /// Cells that only the first side has, as `lock x fault`.
    pub only_a: Vec<String>,
    /// Cells that only the second side has, as `lock x fault`.
    pub only_b: Vec<String>,
    /// Significance threshold for the p-values of the pairs: 0.05 divided by the number of pairs.
    pub p_max: f64,
}

/// One of the two compared locks or sweeps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// Name of the lock or file, as on the command line; `this sweep` for the new sweep in a
    /// comparison with a baseline.
    pub name: String,
    /// Name and version of the program that wrote the sweep.
    pub tool: Tool,
    /// Range from the first seed to the last. The sweep may not have run every seed in the range.
    pub seeds: SeedRange,
    /// `true` if the sweep ran every seed of its shard.
    pub complete: bool,
}

/// A setting that differs between the two sides.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Setting {
    /// Key of the setting in a scenario.
    pub key: String,
    /// Value of the setting on the first side; `null` if the first side has no value.
    pub a: Value,
    /// Value of the setting on the second side; `null` if the second side has no value.
    pub b: Value,
}

/// Two cells under the same faults, one from each side.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Pair {
    /// Fault family, or families joined by `+`, as in `--fault`.
    pub fault: String,
    /// Result of the first side's cell.
    pub a: Half,
    /// Result of the second side's cell.
    pub b: Half,
    /// Two-sided p-value of Fisher's exact test of the two rates, to three significant digits.
    pub p: f64,
    /// Direction of a significant difference between the two rates.
    pub difference: Difference,
    /// Anomalies that only the first side has.
    pub only_a: Vec<Anomaly>,
    /// Anomalies that only the second side has.
    pub only_b: Vec<Anomaly>,
}

/// Result of one side's cell.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Half {
    /// Name of the lock, as in `--client`.
    pub client: String,
    /// Number of runs, one for each seed.
    pub runs: u64,
    /// Number of exercised runs: the valid and the violated runs.
    pub exercised: u64,
    /// Number of runs that broke at least one rule.
    pub violated: u64,
    /// Rate of violated runs among the exercised runs.
    pub rate: Rate,
}

/// A broken rule and its cause, with the number of runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Anomaly {
    /// Rule that the lock broke.
    pub kind: Kind,
    /// Cause of the violation; `unexplained` if the evidence does not show the cause.
    pub cause: Cause,
    /// Number of runs that show the anomaly.
    pub runs: u64,
}

/// Comparison of two rates of violation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Difference {
    /// The second side breaks rules significantly less often than the first.
    Less,
    /// The second side breaks rules significantly more often than the first.
    More,
    /// The difference is not significant, so it may be due to chance.
    NotSignificant,
    /// At least one of the two cells has no run that exercised the lock.
    NotExercised,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "'{a}' and '{b}' have no combination of lock and fault in common: {a} has {cells_a}, {b} has \
     {cells_b}"
)]
pub struct NothingInCommon {
    a: String,
    b: String,
    cells_a: String,
    cells_b: String,
}

impl Comparison {
    /// Pairs cells by lock and fault, or by fault alone if each sweep has one lock. Fails if no
    /// cells match.
    pub fn of(
        (name_a, a): (&str, &Sweep),
        (name_b, b): (&str, &Sweep),
        tool: Tool,
    ) -> Result<Comparison, NothingInCommon> {
        let by_fault = clients(a).len() == 1 && clients(b).len() == 1;
        let same = |one: &Cell, other: &Cell| {
            one.fault == other.fault && (by_fault || one.client == other.client)
        };
        let found = |cell: &Cell, sweep: &Sweep| sweep.cells.iter().any(|other| same(cell, other));
        let both: Vec<(&Cell, &Cell)> = a
            .cells
            .iter()
            .filter_map(|cell| Some((cell, b.cells.iter().find(|other| same(cell, other))?)))
            .collect();
        if both.is_empty() {
            return Err(NothingInCommon {
                a: name_a.to_owned(),
                b: name_b.to_owned(),
                cells_a: some_of(&a.cells),
                cells_b: some_of(&b.cells),
            });
        }
        let p_max = LEVEL / both.len() as f64;
        let only = |sweep: &Sweep, other: &Sweep| {
            sweep.cells.iter().filter(|cell| !found(cell, other)).map(named).collect()
        };
        Ok(Comparison {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool,
            a: Side::of(name_a, a),
            b: Side::of(name_b, b),
            settings: settings(&a.config, &b.config),
            pairs: both.iter().map(|(a, b)| Pair::of(a, b, p_max)).collect(),
            only_a: only(a, b),
            only_b: only(b, a),
            p_max,
        })
    }
}

fn clients(sweep: &Sweep) -> BTreeSet<&str> {
    sweep.cells.iter().map(|cell| cell.client.as_str()).collect()
}

fn named(cell: &Cell) -> String {
    format!("{} x {}", cell.client, cell.fault)
}

fn some_of(cells: &[Cell]) -> String {
    let names: Vec<String> = cells.iter().take(3).map(named).collect();
    let more = if cells.len() > 3 { ", ..." } else { "" };
    if names.is_empty() { "none".to_owned() } else { names.join(", ") + more }
}

/// Scenario key that lists the durations that the user explicitly set to their defaults.
const NOTE: &str = "keeps";

fn settings(a: &Value, b: &Value) -> Vec<Setting> {
    let of = |config: &Value| config["scenario"].as_object().cloned().unwrap_or_default();
    let (a, b) = (of(a), of(b));
    let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let value = |map: &serde_json::Map<String, Value>, key: &str| {
        map.get(key).cloned().unwrap_or(Value::Null)
    };
    keys.into_iter()
        .map(|key| Setting { key: key.clone(), a: value(&a, key), b: value(&b, key) })
        .filter(|setting| setting.key != NOTE && setting.a != setting.b)
        .collect()
}

impl Side {
    fn of(name: &str, sweep: &Sweep) -> Side {
        Side {
            name: name.to_owned(),
            tool: sweep.tool.clone(),
            seeds: sweep.seeds,
            complete: sweep.complete,
        }
    }
}

impl Pair {
    fn of(a: &Cell, b: &Cell, p_max: f64) -> Pair {
        let (half_a, half_b) = (Half::of(a), Half::of(b));
        let hits = |half: &Half| Hits { hits: half.violated, trials: half.exercised };
        let p = p_value(hits(&half_a), hits(&half_b));
        Pair {
            fault: a.fault.clone(),
            difference: Difference::of(&half_a, &half_b, p < p_max),
            only_a: only(a, b),
            only_b: only(b, a),
            a: half_a,
            b: half_b,
            p: format!("{p:.2e}").parse().unwrap_or(p),
        }
    }
}

fn only(cell: &Cell, other: &Cell) -> Vec<Anomaly> {
    let of = |cell: &Cell| -> BTreeMap<(Kind, Cause), u64> {
        cell.fingerprints.iter().map(|one| ((one.kind, one.cause), one.runs)).collect()
    };
    let other = of(other);
    of(cell)
        .into_iter()
        .filter(|(name, _)| !other.contains_key(name))
        .map(|((kind, cause), runs)| Anomaly { kind, cause, runs })
        .collect()
}

impl Half {
    fn of(cell: &Cell) -> Half {
        Half {
            client: cell.client.clone(),
            runs: cell.runs,
            exercised: cell.valid + cell.violated,
            violated: cell.violated,
            rate: cell.rate,
        }
    }
}

impl Difference {
    fn of(a: &Half, b: &Half, is_significant: bool) -> Difference {
        if a.exercised == 0 || b.exercised == 0 {
            Difference::NotExercised
        } else if !is_significant {
            Difference::NotSignificant
        } else if b.rate.point < a.rate.point {
            Difference::Less
        } else {
            Difference::More
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Difference::Less => "B less often",
            Difference::More => "B more often",
            Difference::NotSignificant => "no significant difference",
            Difference::NotExercised => "not exercised",
        }
    }
}

#[cfg(test)]
mod tests;
