//! Adding up the summaries of shards. Must never know in which order they are named.

use super::cell::Cell;
use super::{FORMAT, Measured, SeedRange, Shard, Sweep, VERSION};

/// Whether seeds may be missing from a sum.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Gaps {
    /// A missing seed is an error.
    #[default]
    Refused,
    /// Missing seeds are listed in the sum, which is then not complete.
    Allowed,
}

/// Why summaries cannot be added up. The seeds at fault are named.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MergeError {
    /// There is nothing to add up.
    #[error("no sweep summary given: merge takes at least one")]
    Nothing,
    /// Two summaries were made with different settings.
    #[error("seeds {0} and {1} differ at '{2}': only sweeps of one configuration add up")]
    Config(SeedRange, SeedRange, String),
    /// Two summaries do not have the same clients and faults.
    #[error("seeds {0} have the cells {1}, but seeds {2} have {3}: only sweeps of the same clients and faults add up")]
    Cells(SeedRange, String, SeedRange, String),
    /// Two summaries count the same seeds.
    #[error("seeds {0} and {1} overlap: each seed may be counted once")]
    Overlap(SeedRange, SeedRange),
    /// Seeds are missing.
    #[error("seeds {0} are missing: give the summary that has them, or allow a partial sum")]
    Gap(SeedRange),
    /// A summary was cut short.
    #[error("the sweep of seeds {0} is not complete and does not say which seeds it lacks: run it again")]
    Incomplete(SeedRange),
}

/// Adds up summaries. Their order does not matter, and sums may be added up again, in any grouping. A sum has shard 1/1 and holds
/// nothing measured.
pub fn merge(sweeps: &[Sweep], gaps: Gaps) -> Result<Sweep, MergeError> {
    let mut parts: Vec<&Sweep> = sweeps.iter().collect();
    parts.sort_by_key(|sweep| sweep.seeds);
    let (first, others) = parts.split_first().ok_or(MergeError::Nothing)?;
    if let Some(cut) = parts.iter().find(|part| !part.complete && part.gaps.is_empty()) {
        return Err(MergeError::Incomplete(cut.seeds));
    }
    for other in others {
        agree(first, other)?;
    }
    let missing = missing(covered(&parts)?);
    if let (Gaps::Refused, Some(gap)) = (gaps, missing.first()) {
        return Err(MergeError::Gap(*gap));
    }
    let end = parts.iter().map(|part| part.seeds.to).max().unwrap_or(first.seeds.to);
    Ok(Sweep {
        format: FORMAT.to_owned(),
        version: VERSION,
        tool: first.tool.clone(),
        config: first.config.clone(),
        seeds: SeedRange { from: first.seeds.from, to: end },
        complete: missing.is_empty(),
        gaps: missing,
        shard: Shard::WHOLE,
        cells: added_up(&parts),
        measured: Measured::default(),
    })
}

/// The cells of all parts. They have the same clients and faults in the same order.
fn added_up(parts: &[&Sweep]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = parts[0].cells.iter().map(|cell| Cell::new(&cell.client, &cell.fault)).collect();
    for part in parts {
        for (cell, other) in cells.iter_mut().zip(&part.cells) {
            cell.absorb(other);
        }
    }
    cells
}

/// The ranges of seeds that were run, ascending; an error if any seed was run twice.
fn covered(parts: &[&Sweep]) -> Result<Vec<SeedRange>, MergeError> {
    let mut ranges: Vec<SeedRange> = parts.iter().flat_map(|part| runs_of(part)).collect();
    ranges.sort();
    match ranges.windows(2).find(|pair| pair[1].from < pair[0].to) {
        Some(pair) => Err(MergeError::Overlap(pair[0], pair[1])),
        None => Ok(ranges),
    }
}

/// The range of a sweep without its gaps.
fn runs_of(sweep: &Sweep) -> Vec<SeedRange> {
    let mut from = sweep.seeds.from;
    let mut runs = Vec::new();
    for gap in &sweep.gaps {
        runs.push(SeedRange { from, to: gap.from });
        from = gap.to;
    }
    runs.push(SeedRange { from, to: sweep.seeds.to });
    runs.retain(|run| !run.is_empty());
    runs
}

/// What lies between ascending, disjoint ranges.
fn missing(ranges: Vec<SeedRange>) -> Vec<SeedRange> {
    let between = ranges.windows(2).map(|pair| SeedRange { from: pair[0].to, to: pair[1].from });
    between.filter(|gap| !gap.is_empty()).collect()
}

/// Whether two summaries may be added up at all.
fn agree(sum: &Sweep, part: &Sweep) -> Result<(), MergeError> {
    if sum.tool != part.tool {
        return Err(MergeError::Config(sum.seeds, part.seeds, "tool".to_owned()));
    }
    if let Some(path) = difference("config", &sum.config, &part.config) {
        return Err(MergeError::Config(sum.seeds, part.seeds, path));
    }
    let names = |cells: &[Cell]| -> String {
        let names: Vec<String> = cells.iter().map(|cell| format!("{} x {}", cell.client, cell.fault)).collect();
        names.join(", ")
    };
    let (cells, others) = (names(&sum.cells), names(&part.cells));
    if cells != others {
        return Err(MergeError::Cells(sum.seeds, cells, part.seeds, others));
    }
    Ok(())
}

/// The path of the first value in which two configurations differ.
fn difference(path: &str, a: &serde_json::Value, b: &serde_json::Value) -> Option<String> {
    let (Some(left), Some(right)) = (a.as_object(), b.as_object()) else {
        return (a != b).then(|| path.to_owned());
    };
    let keys = left.keys().chain(right.keys().filter(|key| !left.contains_key(*key)));
    let null = serde_json::Value::Null;
    keys.into_iter().find_map(|key| {
        let (value, other) = (left.get(key).unwrap_or(&null), right.get(key).unwrap_or(&null));
        difference(&format!("{path}.{key}"), value, other)
    })
}
