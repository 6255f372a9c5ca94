use super::cell::Cell;
use super::config::differing;
use super::ranges::Ranges;
use super::{FORMAT, Measured, SeedRange, Shard, Sweep, VERSION};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Gaps {
    #[default]
    Refused,
    Allowed,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MergeError {
    #[error("there is no sweep to merge: expected at least one sweep summary")]
    Nothing,
    #[error(
        "the sweeps of seeds {0} and {1} have different settings ({2}): expected sweeps with the \
         same configuration"
    )]
    Config(SeedRange, SeedRange, String),
    #[error(
        "the sweep of seeds {0} covers {1}, but the sweep of seeds {2} covers {3}: expected sweeps \
         of the same clients and faults"
    )]
    Cells(SeedRange, String, SeedRange, String),
    #[error(
        "seeds {0} and {1} are shards of different sweeps, of seeds {2} and {3}: expected shards \
         of one sweep"
    )]
    Slices(SeedRange, SeedRange, SeedRange, SeedRange),
    #[error("seeds {0} and {1} overlap: expected each seed in only one file")]
    Overlap(SeedRange, SeedRange),
    #[error("seeds {0} are missing: add the summary that contains them, or merge with --partial")]
    Gap(SeedRange),
    #[error(
        "the sweep of seeds {0} is incomplete and does not list its missing seeds: run the sweep \
         again"
    )]
    Incomplete(SeedRange),
    #[error(
        "seeds {0} are shard {1} of {2}, but the file does not state the seeds of the whole sweep: \
         run the sweep again with this version, or merge with --partial"
    )]
    Unstated(SeedRange, u32, u32),
    #[error(
        "the sweep of seeds {0} was interrupted before anomaly {1} was explained: resume the \
         sweep, or merge with --partial"
    )]
    Unexplained(SeedRange, String),
}

/// Merges sweeps in any order. The result has no measurements, and can be merged again.
pub fn merge(sweeps: &[Sweep], gaps: Gaps) -> Result<Sweep, MergeError> {
    let mut parts: Vec<&Sweep> = sweeps.iter().collect();
    parts.sort_by_key(|sweep| sweep.seeds);
    let (first, others) = parts.split_first().ok_or(MergeError::Nothing)?;
    for part in &parts {
        check_complete(part, gaps)?;
    }
    for other in others {
        agree(first, other)?;
    }
    let whole = hull(parts.iter().map(|part| part.whole.unwrap_or(part.seeds)), first.seeds);
    let ran = covered(&parts).map_err(|overlap| strangers(&parts).unwrap_or(overlap))?;
    let ran: Ranges = ran.into_iter().collect();
    let missing = ran.missing(whole);
    if let (Gaps::Refused, Some(gap)) = (gaps, missing.first()) {
        return Err(strangers(&parts).unwrap_or(MergeError::Gap(*gap)));
    }
    let seeds = hull(parts.iter().map(|part| part.seeds), first.seeds);
    Ok(Sweep {
        format: FORMAT.to_owned(),
        version: VERSION,
        tool: first.tool.clone(),
        config: first.config.clone(),
        checksum: None,
        seeds,
        complete: missing.is_empty(),
        gaps: ran.missing(seeds),
        shard: Shard::WHOLE,
        whole: Some(whole),
        cells: added_up(&parts),
        baseline: None,
        measured: Measured::default(),
    })
}

fn added_up(parts: &[&Sweep]) -> Vec<Cell> {
    let empty = |cell: &Cell| Cell {
        violations_max: cell.violations_max,
        blind_spots: cell.blind_spots.clone(),
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

fn covered(parts: &[&Sweep]) -> Result<Vec<SeedRange>, MergeError> {
    let mut ranges: Vec<SeedRange> = parts.iter().flat_map(|part| runs_of(part)).collect();
    ranges.sort();
    match ranges.windows(2).find(|pair| pair[1].from < pair[0].to) {
        Some(pair) => Err(MergeError::Overlap(pair[0], pair[1])),
        None => Ok(ranges),
    }
}

/// Returns an error if two shards belong to different sweeps whose seed ranges overlap. `--seeds
/// +N` produces such shards if the findings file changes between their runs.
fn strangers(parts: &[&Sweep]) -> Option<MergeError> {
    let slices: Vec<(SeedRange, SeedRange)> = parts
        .iter()
        .filter(|part| part.shard.count > 1)
        .filter_map(|part| Some((part.seeds, part.whole?)))
        .collect();
    let meets = |a: SeedRange, b: SeedRange| a != b && a.from < b.to && b.from < a.to;
    slices.iter().enumerate().find_map(|(place, (seeds, whole))| {
        let (other, other_whole) =
            slices[place + 1..].iter().find(|(_, other)| meets(*whole, *other))?;
        Some(MergeError::Slices(*seeds, *other, *whole, *other_whole))
    })
}

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

fn hull(ranges: impl Iterator<Item = SeedRange>, first: SeedRange) -> SeedRange {
    ranges.fold(first, |hull, range| SeedRange {
        from: hull.from.min(range.from),
        to: hull.to.max(range.to),
    })
}

fn check_complete(part: &Sweep, gaps: Gaps) -> Result<(), MergeError> {
    if part.whole.is_none() && !part.complete && part.gaps.is_empty() {
        return Err(MergeError::Incomplete(part.seeds));
    }
    let Gaps::Refused = gaps else { return Ok(()) };
    let Shard { index, count } = part.shard;
    if part.whole.is_none() && count > 1 {
        return Err(MergeError::Unstated(part.seeds, index, count));
    }
    let explains = part.config.get("explains").and_then(serde_json::Value::as_bool);
    let mut anomalies = part.cells.iter().flat_map(|cell| &cell.fingerprints);
    match anomalies.find(|anomaly| explains == Some(true) && anomaly.report.is_none()) {
        Some(anomaly) => Err(MergeError::Unexplained(part.seeds, anomaly.id.clone())),
        None => Ok(()),
    }
}

fn agree(sum: &Sweep, part: &Sweep) -> Result<(), MergeError> {
    if sum.tool != part.tool {
        let [one, other] =
            [&sum.tool, &part.tool].map(|tool| format!("{} {}", tool.name, tool.version));
        let tool = format!("tool: {one}, not {other}");
        return Err(MergeError::Config(sum.seeds, part.seeds, tool));
    }
    if let Some(settings) = differing(&sum.config, &part.config) {
        return Err(MergeError::Config(sum.seeds, part.seeds, settings));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use fencepost_faults::Seed;
    use proptest::prelude::*;

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
    fn a_merge_keeps_what_a_cell_cannot_test() {
        let limited = |from, to| {
            let mut part = samples::sweep(from, to);
            part.cells[1].blind_spots = vec!["a limit of the lock".to_owned()];
            part
        };
        let merged = merge(&[limited(0, 7), limited(7, 30)], Gaps::Refused).unwrap();
        assert_eq!(merged.cells[1].blind_spots, ["a limit of the lock"]);
    }

    #[test]
    fn overlapping_seeds_are_refused() {
        let said = refused(&[samples::sweep(5, 12), samples::sweep(0, 6)]);
        assert_eq!(said, "seeds 0..6 and 5..12 overlap: expected each seed in only one file");
    }

    #[test]
    fn missing_seeds_are_refused_unless_allowed_and_then_listed() {
        let parts = [samples::sweep(0, 5), samples::sweep(8, 12)];
        assert_eq!(
            refused(&parts),
            "seeds 5..8 are missing: add the summary that contains them, or merge with --partial"
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
            "the sweeps of seeds 0..5 and 5..8 have different settings (ttl_us: 10000000, not 1): \
             expected sweeps with the same configuration"
        );
        let tool = other(|sweep| sweep.tool.version = "9.0.0".to_owned());
        assert!(tool.contains(", not fencepost 9.0.0)"), "{tool}");
        let cells = other(|sweep| drop(sweep.cells.pop()));
        assert!(
            cells.contains("the sweep of seeds 5..8 covers single-node x pause, redlock x pause:"),
            "{cells}"
        );
    }

    #[test]
    fn a_sweep_that_does_not_say_what_it_lacks_is_refused() {
        let cut = Sweep { complete: false, whole: None, ..samples::sweep(0, 5) };
        assert!(
            merge(&[cut], Gaps::Allowed)
                .unwrap_err()
                .to_string()
                .starts_with("the sweep of seeds 0..5 is incomplete")
        );
        assert_eq!(merge(&[], Gaps::Allowed), Err(MergeError::Nothing));
    }

    fn slice(index: u32) -> Sweep {
        let whole = SeedRange { from: Seed(0), to: Seed(41) };
        let shard = Shard { index, count: 3 };
        let seeds = shard.slice(whole);
        Sweep { shard, whole: Some(whole), ..samples::sweep(seeds.from.0, seeds.to.0) }
    }

    #[test]
    fn a_missing_first_or_last_slice_is_refused_unless_allowed() {
        let lacks = |parts: &[Sweep], said: &str| {
            assert_eq!(refused(parts), said);
            let sum = merge(parts, Gaps::Allowed).unwrap();
            assert!(!sum.complete && sum.possible().is_ok(), "{:?}", sum.possible());
            sum
        };
        let why = "add the summary that contains them, or merge with --partial";
        lacks(&[slice(1), slice(3)], &format!("seeds 13..27 are missing: {why}"));
        let tail = lacks(&[slice(3), slice(2)], &format!("seeds 0..13 are missing: {why}"));
        let head = lacks(&[slice(1), slice(2)], &format!("seeds 27..41 are missing: {why}"));
        assert_eq!((head.seeds.to_string(), head.gaps.len()), ("0..27".to_owned(), 0));
        assert_eq!(merge(&[head, slice(3)], Gaps::Refused), Ok(whole(0, 41)));
        assert_eq!(merge(&[slice(1), tail], Gaps::Refused), Ok(whole(0, 41)));
    }

    #[test]
    fn a_slice_that_does_not_state_the_whole_is_refused_unless_allowed() {
        let silent = Sweep { whole: None, ..slice(2) };
        assert!(
            refused(std::slice::from_ref(&silent))
                .contains("are shard 2 of 3, but the file does not")
        );
        assert!(merge(&[silent], Gaps::Allowed).is_ok());
        let older = Sweep { whole: None, ..samples::sweep(0, 9) };
        assert_eq!(merge(&[older], Gaps::Refused), Ok(whole(0, 9)));
    }

    #[test]
    fn slices_of_different_sweeps_are_refused() {
        let of = |index: u32, from: u64, to: u64| {
            let (whole, shard) =
                (SeedRange { from: Seed(from), to: Seed(to) }, Shard { index, count: 2 });
            let seeds = shard.slice(whole);
            Sweep { shard, whole: Some(whole), ..samples::sweep(seeds.from.0, seeds.to.0) }
        };
        assert_eq!(
            refused(&[of(1, 0, 20), of(2, 5, 25)]),
            "seeds 0..10 and 15..25 are shards of different sweeps, of seeds 0..20 and 5..25: \
             expected shards of one sweep"
        );
        let apart = [of(1, 0, 20), of(2, 0, 20), of(1, 20, 40), of(2, 20, 40)];
        assert_eq!(merge(&apart, Gaps::Refused), Ok(whole(0, 40)));
    }

    #[test]
    fn a_slice_with_other_explanations_than_the_rest_is_refused() {
        let explaining = |mut sweep: Sweep, explains: bool| {
            sweep.config["explains"] = explains.into();
            sweep
        };
        let [one, two] = [samples::sweep(0, 5), samples::sweep(5, 9)];
        let said = refused(&[explaining(one.clone(), false), explaining(two.clone(), true)]);
        assert!(said.contains("was interrupted before anomaly"), "{said}");
        let quiet = |sweep: &Sweep| {
            let mut sweep = sweep.clone();
            sweep.cells.remove(0);
            sweep
        };
        let said = refused(&[explaining(quiet(&one), false), explaining(quiet(&two), true)]);
        assert!(said.contains("different settings (--no-shrink)"), "{said}");
    }

    #[test]
    fn an_interrupted_slice_says_what_it_lacks() {
        let whole = SeedRange { from: Seed(0), to: Seed(41) };
        let cut = Sweep { complete: false, whole: Some(whole), ..samples::sweep(0, 5) };
        assert_eq!(cut.possible(), Ok(()));
        assert!(refused(std::slice::from_ref(&cut)).starts_with("seeds 5..41 are missing"));
        assert!(!merge(&[cut], Gaps::Allowed).unwrap().complete);
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
        fn neither_order_nor_grouping_matters(
            cuts in prop::collection::btree_set(1_u64..40, 1..6),
            rotate in 0_usize..6,
            at in 1_usize..6,
        ) {
            let bounds: Vec<u64> = [0].into_iter().chain(cuts).chain([40]).collect();
            let parts = bounds.windows(2).map(|pair| samples::sweep(pair[0], pair[1]));
            let mut parts: Vec<Sweep> = parts.collect();
            let turns = rotate % parts.len();
            parts.rotate_left(turns);
            prop_assert_eq!(merge(&parts, Gaps::Refused), Ok(whole(0, 40)));
            let (left, right) = parts.split_at(at.min(parts.len() - 1));
            let grouped = [left, right].map(|part| merge(part, Gaps::Allowed).unwrap());
            prop_assert_eq!(merge(&grouped, Gaps::Refused), Ok(whole(0, 40)));
        }
    }
}
