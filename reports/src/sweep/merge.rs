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
    #[error(
        "seeds {0} have the cells {1}, but seeds {2} have {3}: only sweeps of the same clients \
         and faults add up"
    )]
    Cells(SeedRange, String, SeedRange, String),
    /// Two summaries count the same seeds.
    #[error("seeds {0} and {1} overlap: each seed may be counted once")]
    Overlap(SeedRange, SeedRange),
    /// Seeds are missing.
    #[error("seeds {0} are missing: give the summary that has them, or allow a partial sum")]
    Gap(SeedRange),
    /// A summary was cut short.
    #[error(
        "the sweep of seeds {0} is not complete and does not say which seeds it lacks: run it again"
    )]
    Incomplete(SeedRange),
}

/// Adds up summaries. Their order does not matter, and sums may be added up again, in any grouping.
/// A sum has shard 1/1 and holds no speed; the processor time of the cells adds up.
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
    let empty = |cell: &Cell| Cell {
        violations_max: cell.violations_max,
        ..Cell::new(&cell.client, &cell.fault)
    };
    let mut cells: Vec<Cell> = parts[0].cells.iter().map(empty).collect();
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

/// The seeds that a sweep did run: its range without its gaps, ascending.
pub fn runs_of(sweep: &Sweep) -> Vec<SeedRange> {
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
        let names: Vec<String> =
            cells.iter().map(|cell| format!("{} x {}", cell.client, cell.fault)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use fencepost_faults::Seed;
    use proptest::prelude::*;

    /// The whole as a single sweep would have it, with nothing measured.
    fn whole(from: u64, to: u64) -> Sweep {
        Sweep { measured: Measured::default(), ..samples::sweep(from, to) }
    }

    fn refused(parts: &[Sweep]) -> String {
        merge(parts, Gaps::Refused).expect_err("they do not add up").to_string()
    }

    #[test]
    fn shards_add_up_to_the_whole() {
        let parts = [samples::sweep(0, 7), samples::sweep(7, 30), samples::sweep(30, 41)];
        assert_eq!(merge(&parts, Gaps::Refused), Ok(whole(0, 41)));
    }

    #[test]
    fn overlapping_seeds_are_refused() {
        let said = refused(&[samples::sweep(5, 12), samples::sweep(0, 6)]);
        assert_eq!(said, "seeds 0..6 and 5..12 overlap: each seed may be counted once");
    }

    #[test]
    fn missing_seeds_are_refused_unless_allowed_and_then_listed() {
        let parts = [samples::sweep(0, 5), samples::sweep(8, 12)];
        assert_eq!(
            refused(&parts),
            "seeds 5..8 are missing: give the summary that has them, or allow a partial sum"
        );
        let sum = merge(&parts, Gaps::Allowed).unwrap();
        assert_eq!(
            (sum.complete, sum.gaps.clone()),
            (false, vec![SeedRange { from: Seed(5), to: Seed(8) }])
        );
        assert_eq!(
            merge(&[sum, samples::sweep(5, 8)], Gaps::Refused),
            Ok(whole(0, 12)),
            "what was missing fits in"
        );
    }

    #[test]
    fn other_settings_clients_or_versions_are_refused() {
        let other = |edit: fn(&mut Sweep)| {
            let mut other = samples::sweep(5, 8);
            edit(&mut other);
            refused(&[samples::sweep(0, 5), other])
        };
        let config = other(|sweep| sweep.config["ttl_us"] = serde_json::json!(1));
        assert_eq!(
            config,
            "seeds 0..5 and 5..8 differ at 'config.ttl_us': only sweeps of one configuration add up"
        );
        assert!(
            other(|sweep| sweep.tool.version = "9.0.0".to_owned()).contains("differ at 'tool'")
        );
        let cells = other(|sweep| drop(sweep.cells.pop()));
        assert!(cells.contains("seeds 5..8 have single-node x pause, redlock x pause:"), "{cells}");
    }

    #[test]
    fn a_sweep_that_does_not_say_what_it_lacks_is_refused() {
        let cut = Sweep { complete: false, ..samples::sweep(0, 5) };
        assert!(
            merge(&[cut], Gaps::Allowed)
                .unwrap_err()
                .to_string()
                .starts_with("the sweep of seeds 0..5 is not")
        );
        assert_eq!(merge(&[], Gaps::Allowed), Err(MergeError::Nothing));
    }

    #[test]
    fn slices_are_the_range() {
        let range = SeedRange { from: Seed(10), to: Seed(21) };
        let slices: Vec<String> =
            (1..=4).map(|index| Shard { index, count: 4 }.slice(range).to_string()).collect();
        assert_eq!(slices, ["10..12", "12..15", "15..18", "18..21"]);
        let all = SeedRange { from: Seed(0), to: Seed(u64::MAX) };
        assert_eq!(Shard { index: 3, count: 3 }.slice(all).to, Seed(u64::MAX));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn neither_order_nor_grouping_matters(cuts in prop::collection::btree_set(1_u64..40, 1..6), rotate in 0_usize..6, at in 1_usize..6) {
            let bounds: Vec<u64> = [0].into_iter().chain(cuts).chain([40]).collect();
            let mut parts: Vec<Sweep> = bounds.windows(2).map(|pair| samples::sweep(pair[0], pair[1])).collect();
            let turns = rotate % parts.len();
            parts.rotate_left(turns);
            prop_assert_eq!(merge(&parts, Gaps::Refused), Ok(whole(0, 40)));
            let (left, right) = parts.split_at(at.min(parts.len() - 1));
            let grouped = [merge(left, Gaps::Allowed).unwrap(), merge(right, Gaps::Allowed).unwrap()];
            prop_assert_eq!(merge(&grouped, Gaps::Refused), Ok(whole(0, 40)));
        }
    }
}
