//! The `fencepost.matrix` format: results of locks under faults, next to predictions.

mod html;
mod markdown;
mod stale;
mod text;

pub use stale::stale;

use crate::explain::literature::{Conditions, Expected, expected};
use crate::judge::finding::Kind;
use crate::judge::phases::counts_by_phase;
use crate::record::visible::visible;
use crate::show::format::text::layout::thousands;
use crate::show::view::View;
use crate::summary::report::Tool;
use crate::summary::sweep::{Cell, Rate, SeedRange, Sweep, quiet_bound};
use fencepost_faults::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use strum::IntoStaticStr;

pub const FORMAT: &str = "fencepost.matrix";
pub const VERSION: u32 = 1;
pub static VIEWS: &[View<Matrix>] = &[View::new("text", text::text), MARKDOWN, View::JSON, HTML];

pub static MARKDOWN: View<Matrix> = View::new("markdown", markdown::markdown);
pub static HTML: View<Matrix> = View::new("html", html::html);

/// Results of locks under faults.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Matrix {
    /// Name of the format, always `fencepost.matrix`.
    #[schemars(extend("const" = FORMAT))]
    pub format: String,
    /// Version of the format, always 1.
    #[schemars(extend("const" = VERSION))]
    pub version: u32,
    /// Name and version of the program that wrote the document.
    pub tool: Tool,
    /// Settings that all runs share, as in the sweep.
    pub config: serde_json::Value,
    /// Range of the seeds in every cell.
    pub seeds: SeedRange,
    /// Rule whose violations count; absent if violations of every rule count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Results of each lock under each fault, in the order of the sweep.
    pub cells: Vec<MatrixCell>,
}

/// Result of one lock under one fault, over all seeds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct MatrixCell {
    /// Name of the lock, as in `--client`.
    pub client: String,
    /// Fault family, or families joined by `+`, as in `--fault`.
    pub fault: String,
    /// Summary of the runs: `violated`, `quiet` or `unknown`.
    pub verdict: CellVerdict,
    /// Number of runs, one for each seed.
    pub runs: u64,
    /// Number of conclusive runs: valid runs and runs that broke a rule.
    pub exercised: u64,
    /// Number of runs that broke a counted rule.
    pub violated: u64,
    /// Rate of violated runs among the exercised runs.
    pub rate: Rate,
    /// 95 % upper bound of the violation rate (rule of three); absent if a run broke a counted
    /// rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet_bound: Option<f64>,
    /// Number of runs that broke each rule or, if `kind` is present, that rule.
    pub kinds: BTreeMap<Kind, u64>,
    /// For each rule in `kinds`, the lowest seed with a violation.
    pub first_seed: BTreeMap<Kind, Seed>,
    /// Median number of seeds until the first violation; absent if unknown or if `kind` is present.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seeds_to_first: Option<u64>,
    /// Number of faults of each kind that began in each phase of the protocol, over all runs,
    /// without zeros; absent if no fault began, `kind` is present or the verdict is not `quiet`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<String, BTreeMap<String, u64>>,
    /// Violations that these faults and settings cannot show, in sentences; absent if there are
    /// none, `kind` is present or the verdict is not `quiet`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blind_spots: Vec<String>,
    /// Prediction from the literature for this lock under this fault; `null` if there is none or
    /// `kind` is present.
    pub expected: Option<Expected>,
    /// Comparison of the result with `expected`.
    pub agreement: Agreement,
}

/// Summary of all runs of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum CellVerdict {
    /// At least one run broke a counted rule.
    Violated,
    /// No run broke a counted rule, and at least one run was conclusive.
    Quiet,
    /// No run was conclusive.
    Unknown,
}

/// Comparison of a result with the literature's prediction. Violations of `unavailable` do not
/// count, because the literature makes no predictions about them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// Violations were found, all of them predicted; or none was predicted and none was found.
    Agrees,
    /// Both predicted violations and other violations were found.
    More,
    /// The literature predicts violations, but no run shows a violation.
    NotSeen,
    /// Violations were found, but the literature predicts none or only different ones.
    Contradicts,
    /// The literature predicts nothing for this lock under this fault or for the broken rules, or
    /// the matrix counts only one rule.
    Silent,
    /// No run was conclusive.
    NotExercised,
}

impl Matrix {
    pub fn of(sweep: &Sweep, conditions: Conditions) -> Matrix {
        let cells = sweep.cells.iter().map(|cell| MatrixCell::of(cell, conditions)).collect();
        Matrix::with(sweep, None, cells)
    }

    /// Counts only violations of `kind`, and omits the literature's predictions.
    pub fn of_kind(sweep: &Sweep, kind: Kind) -> Matrix {
        let cells = sweep.cells.iter().map(|cell| MatrixCell::of_kind(cell, kind)).collect();
        Matrix::with(sweep, Some(kind), cells)
    }

    fn with(sweep: &Sweep, kind: Option<Kind>, cells: Vec<MatrixCell>) -> Matrix {
        Matrix {
            format: FORMAT.to_owned(),
            version: VERSION,
            tool: Tool {
                name: visible(&sweep.tool.name).into_owned(),
                version: visible(&sweep.tool.version).into_owned(),
            },
            config: sweep.config.clone(),
            seeds: sweep.seeds,
            kind,
            cells,
        }
    }

    fn counts(&self) -> Option<String> {
        let kind = self.kind?;
        let scenario = self.config.get("scenario");
        let bound = kind.bound_key().and_then(|key| scenario?.get(key)?.as_str());
        Some(match bound {
            Some(bound) => format!("{kind}, bound {}", visible(bound)),
            None => kind.to_string(),
        })
    }

    /// Returns the locks in order of first appearance.
    pub fn clients(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|cell| cell.client.as_str()))
    }

    /// Returns the faults in order of first appearance.
    pub fn faults(&self) -> Vec<&str> {
        distinct(self.cells.iter().map(|cell| cell.fault.as_str()))
    }

    pub fn cell(&self, client: &str, fault: &str) -> Option<&MatrixCell> {
        self.cells.iter().find(|cell| cell.client == client && cell.fault == fault)
    }

    pub fn count(&self, agreement: Agreement) -> usize {
        self.cells.iter().filter(|cell| cell.agreement == agreement).count()
    }
}

impl MatrixCell {
    fn of(cell: &Cell, conditions: Conditions) -> MatrixCell {
        let verdict = CellVerdict::of(cell.violated, cell.valid + cell.violated);
        let expected = cell
            .fault
            .parse()
            .ok()
            .and_then(|families| expected(&cell.client, &families, conditions));
        let mut of_all = MatrixCell::counted(cell, cell.violated);
        let is_quiet = verdict == CellVerdict::Quiet;
        if is_quiet {
            let limits = cell.blind_spots.iter().map(|one| visible(one).into_owned());
            of_all.phases = cell.phases.clone();
            of_all.blind_spots = limits.collect();
        }
        MatrixCell {
            agreement: agreement(verdict, &cell.violations_by_kind, expected.as_ref()),
            kinds: cell.violations_by_kind.clone(),
            first_seed: cell.first_seed.clone(),
            seeds_to_first: cell.seeds_to_first.median,
            expected,
            ..of_all
        }
    }

    fn of_kind(cell: &Cell, kind: Kind) -> MatrixCell {
        let of_it = |counts: &BTreeMap<Kind, u64>| counts.get(&kind).map(|count| (kind, *count));
        let kinds: BTreeMap<Kind, u64> = of_it(&cell.violations_by_kind).into_iter().collect();
        let violated = kinds.values().sum();
        let first = cell.first_seed.get(&kind).map(|seed| (kind, *seed));
        MatrixCell {
            agreement: match cell.valid + cell.violated {
                0 => Agreement::NotExercised,
                _ => Agreement::Silent,
            },
            kinds,
            first_seed: first.into_iter().collect(),
            ..MatrixCell::counted(cell, violated)
        }
    }

    fn counted(cell: &Cell, violated: u64) -> MatrixCell {
        let exercised = cell.valid + cell.violated;
        let verdict = CellVerdict::of(violated, exercised);
        MatrixCell {
            client: visible(&cell.client).into_owned(),
            fault: visible(&cell.fault).into_owned(),
            verdict,
            runs: cell.runs,
            exercised,
            violated,
            rate: Rate::of(violated, exercised),
            quiet_bound: (violated == 0).then(|| quiet_bound(exercised)),
            kinds: BTreeMap::new(),
            first_seed: BTreeMap::new(),
            seeds_to_first: None,
            phases: BTreeMap::new(),
            blind_spots: Vec::new(),
            expected: None,
            agreement: Agreement::Silent,
        }
    }
}

fn agreement(
    verdict: CellVerdict,
    kinds: &BTreeMap<Kind, u64>,
    expected: Option<&Expected>,
) -> Agreement {
    if verdict == CellVerdict::Unknown {
        return Agreement::NotExercised;
    }
    let Some(expected) = expected else { return Agreement::Silent };
    let of_it: Vec<&Kind> = kinds.keys().filter(|kind| Expected::covers_rule(**kind)).collect();
    if of_it.is_empty() && !kinds.is_empty() {
        return Agreement::Silent;
    }
    let named = of_it.iter().filter(|kind| expected.kinds.contains(kind)).count();
    match verdict {
        CellVerdict::Quiet if expected.is_safe() => Agreement::Agrees,
        CellVerdict::Quiet => Agreement::NotSeen,
        CellVerdict::Violated if named == of_it.len() => Agreement::Agrees,
        _ if named > 0 => Agreement::More,
        _ => Agreement::Contradicts,
    }
}

impl CellVerdict {
    fn of(violated: u64, exercised: u64) -> CellVerdict {
        match (violated, exercised) {
            (_, 0) => CellVerdict::Unknown,
            (0, _) => CellVerdict::Quiet,
            _ => CellVerdict::Violated,
        }
    }

    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Agreement {
    /// All members, in display order.
    pub const ALL: [Agreement; 6] = [
        Agreement::Agrees,
        Agreement::More,
        Agreement::NotSeen,
        Agreement::Contradicts,
        Agreement::Silent,
        Agreement::NotExercised,
    ];

    pub fn words(self) -> &'static str {
        match self {
            Agreement::Agrees => "agrees",
            Agreement::More => "agrees, and shows more",
            Agreement::NotSeen => "not seen",
            Agreement::Contradicts => "contradicts",
            Agreement::Silent => "silent",
            Agreement::NotExercised => "not exercised",
        }
    }
}

fn literature(expected: &Expected) -> String {
    let kinds: Vec<&str> = expected.kinds.iter().map(|kind| kind.name()).collect();
    let what = if expected.is_safe() { "safe".to_owned() } else { kinds.join(", ") };
    format!("{what}: {}", expected.because)
}

fn findings(cell: &MatrixCell) -> String {
    let began = counts_by_phase(&cell.phases);
    if began.is_empty() {
        return kinds(cell);
    }
    let limits = cell.blind_spots.iter().map(|limit| format!("; not tested: {limit}"));
    let limits = limits.collect::<String>();
    format!("faults began: {}{}{limits}", counted(&began), by_kind(cell))
}

fn counted(began: &[(&str, u64)]) -> String {
    let counts: Vec<String> =
        began.iter().map(|(phase, count)| format!("{phase} {}", thousands(*count))).collect();
    counts.join(", ")
}

fn by_kind(cell: &MatrixCell) -> String {
    if cell.phases.len() < 2 {
        return String::new();
    }
    let of_kind = |(kind, counts): (&String, &BTreeMap<String, u64>)| {
        let of_it = BTreeMap::from([(kind.clone(), counts.clone())]);
        let mut began = counts_by_phase(&of_it);
        began.retain(|(_, count)| *count > 0);
        format!("{kind} {}", counted(&began))
    };
    let kinds: Vec<String> = cell.phases.iter().map(of_kind).collect();
    format!(" ({})", kinds.join("; "))
}

fn kinds(cell: &MatrixCell) -> String {
    let kinds: Vec<String> =
        cell.kinds.iter().map(|(kind, runs)| format!("{kind} {runs}")).collect();
    kinds.join(", ")
}

fn distinct<'m>(names: impl Iterator<Item = &'m str>) -> Vec<&'m str> {
    let mut all = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

#[cfg(test)]
pub(crate) mod tests;
