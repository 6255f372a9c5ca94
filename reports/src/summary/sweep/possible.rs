//! Rejects sweeps whose seeds or counts contradict each other, for example after an edit.

use super::merge::runs_of;
use super::{Blocks, Cell, Fingerprint, SeedRange, Sweep};
use fencepost_faults::Seed;

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Impossible {
    #[error(
        "seeds {0}: the gaps are not in ascending order, or some seeds are outside the shard of \
         the sweep"
    )]
    Seeds(SeedRange),
    #[error("seeds {0}: the value of 'complete' does not match the listed seeds and gaps")]
    Complete(SeedRange),
    #[error("{client} x {fault}: {what}")]
    Cell { client: String, fault: String, what: String },
}

impl Sweep {
    pub fn possible(&self) -> Result<(), Impossible> {
        self.seeds_ascend()?;
        let runs = runs_of(self);
        let count: u64 = runs.iter().map(|range| range.len()).sum();
        for cell in &self.cells {
            check(cell, count, &runs).map_err(|what| Impossible::Cell {
                client: cell.client.clone(),
                fault: cell.fault.clone(),
                what,
            })?;
        }
        Ok(())
    }

    fn seeds_ascend(&self) -> Result<(), Impossible> {
        let seeds = self.seeds;
        let bounds: Vec<Seed> = [seeds.from]
            .into_iter()
            .chain(self.gaps.iter().flat_map(|gap| [gap.from, gap.to]))
            .chain([seeds.to])
            .collect();
        let slice = self.whole.map_or(seeds, |whole| self.shard.slice(whole));
        let is_inside = slice.from <= seeds.from && seeds.to <= slice.to;
        if !bounds.is_sorted() || !is_inside {
            return Err(Impossible::Seeds(seeds));
        }
        let is_complete = self.gaps.is_empty() && slice == seeds;
        let agrees = match self.whole {
            Some(_) => self.complete == is_complete,
            None => !self.complete || self.gaps.is_empty(),
        };
        if agrees { Ok(()) } else { Err(Impossible::Complete(seeds)) }
    }
}

fn check(cell: &Cell, seeds: u64, ran: &[SeedRange]) -> Result<(), String> {
    let Cell { runs, valid, violated, unknown, .. } = *cell;
    let sum = u128::from(valid) + u128::from(violated) + u128::from(unknown);
    if sum != u128::from(runs) {
        return Err(format!(
            "{valid} valid, {violated} violated and {unknown} unknown do not add up to {runs} runs"
        ));
    }
    if runs != seeds {
        return Err(format!("{runs} runs, but {seeds} seeds: expected one run per seed"));
    }
    if cell.failed.as_ref().is_some_and(|failed| !(1..=unknown).contains(&failed.runs)) {
        return Err(format!(
            "the number of runs with a failed program is not between 1 and {unknown}, the number \
             of unknown runs"
        ));
    }
    counts("kinds", cell.violations_by_kind.values(), violated)?;
    counts("causes", cell.violations_by_cause.values(), violated)?;
    if !cell.first_seed.keys().eq(cell.violations_by_kind.keys()) {
        return Err("first_seed and violations_by_kind have different kinds".to_owned());
    }
    if let Some(seed) = cell.first_seed.values().find(|seed| !has_run(ran, **seed)) {
        return Err(format!("first_seed has seed {seed}, which was not run"));
    }
    if cell.confirmed_under_turmoil > cell.fingerprints.len() as u64 {
        return Err("confirmed_under_turmoil is larger than the number of anomalies".to_owned());
    }
    cell.fingerprints.iter().try_for_each(|one| anomaly(one, violated, ran))?;
    cell.seeds_to_first.blocks.iter().try_for_each(|blocks| block(blocks, runs))
}

fn counts<'c>(
    what: &str,
    counts: impl Iterator<Item = &'c u64> + Clone,
    violated: u64,
) -> Result<(), String> {
    if let Some(count) = counts.clone().find(|count| **count > violated || **count == 0) {
        return Err(format!(
            "one of the {what} has {count} runs: expected 1 to {violated}, the number of violated \
             runs"
        ));
    }
    match counts.map(|count| u128::from(*count)).sum::<u128>() >= u128::from(violated) {
        true => Ok(()),
        false => {
            Err(format!("the {what} have fewer runs together than the {violated} violated runs"))
        }
    }
}

fn anomaly(one: &Fingerprint, violated: u64, ran: &[SeedRange]) -> Result<(), String> {
    let id = &one.id;
    let kept = one.others.iter().map(|kept| kept.seed).chain([one.smallest.seed]);
    if one.runs > violated || one.runs <= one.others.len() as u64 {
        return Err(format!(
            "anomaly {id} has {} runs, which do not match its kept seeds and the {violated} \
             violated runs",
            one.runs
        ));
    }
    if let Some(seed) = kept.into_iter().find(|seed| !has_run(ran, *seed)) {
        return Err(format!("anomaly {id} is in seed {seed}, which was not run"));
    }
    let told = one.report.as_ref().map(|report| &report.violation);
    match told.is_none_or(|told| (&told.id, told.kind, told.cause) == (id, one.kind, one.cause)) {
        true => Ok(()),
        false => Err(format!("the report of anomaly {id} describes another anomaly")),
    }
}

fn block(blocks: &Blocks, runs: u64) -> Result<(), String> {
    let length = u128::from(blocks.length);
    let first: u128 = blocks.first.values().map(|count| u128::from(*count)).sum();
    let complete = u128::from(blocks.quiet).saturating_add(first);
    let open: u128 = blocks.open.iter().map(|block| u128::from(block.seeds)).sum();
    let is_short = blocks.open.iter().all(|block| block.seeds < blocks.length);
    match is_short && complete.saturating_mul(length).saturating_add(open) == u128::from(runs) {
        true => Ok(()),
        false => Err(format!("the blocks of {length} seeds do not add up to {runs} runs")),
    }
}

fn has_run(ran: &[SeedRange], seed: Seed) -> bool {
    ran.iter().any(|range| range.from <= seed && seed < range.to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn refused(edit: impl FnOnce(&mut Sweep)) -> String {
        let mut sweep = samples::sweep(3, 44);
        assert_eq!(sweep.possible(), Ok(()));
        edit(&mut sweep);
        sweep.possible().expect_err("it cannot be").to_string()
    }

    #[test]
    fn accepts_sums_of_runs() {
        assert_eq!(samples::sweep(0, 0).possible(), Ok(()));
        assert_eq!(samples::sweep(7, 8).possible(), Ok(()));
        let open = Sweep { whole: None, ..samples::sweep(0, 9) };
        assert_eq!(open.possible(), Ok(()), "older sums do not state the whole");
    }

    #[test]
    fn rejects_counts_that_do_not_add_up() {
        let said = refused(|sweep| sweep.cells[0].violated = 42);
        assert!(said.starts_with("single-node x pause: "), "{said}");
        assert!(said.ends_with("violated and 0 unknown do not add up to 41 runs"), "{said}");
        let more = refused(|sweep| {
            sweep.cells[1].runs += 5;
            sweep.cells[1].valid += 5;
        });
        assert_eq!(more, "redlock x pause: 46 runs, but 41 seeds: expected one run per seed");
        let huge = refused(|sweep| {
            sweep.cells[0].valid = u64::MAX;
            sweep.cells[0].violated = u64::MAX;
        });
        assert!(huge.contains("do not add up to 41 runs"), "{huge}");
    }

    #[test]
    fn rejects_kinds_causes_and_anomalies_beyond_the_violated_runs() {
        let kinds = refused(|sweep| {
            sweep.cells[0].violations_by_kind.values_mut().for_each(|count| *count = 999);
        });
        assert!(kinds.contains("one of the kinds has 999 runs"), "{kinds}");
        let causes = refused(|sweep| sweep.cells[0].violations_by_cause.clear());
        assert!(causes.contains("the causes have fewer runs together"), "{causes}");
        let anomaly = refused(|sweep| sweep.cells[0].fingerprints[0].runs = 1_000);
        assert!(anomaly.contains("has 1000 runs"), "{anomaly}");
        let seed = refused(|sweep| sweep.cells[0].fingerprints[0].smallest.seed = Seed(44));
        assert!(seed.contains("seed 44, which was not run"), "{seed}");
        let blocks = refused(|sweep| sweep.cells[0].seeds_to_first.blocks[0].quiet += 1);
        assert!(blocks.contains("the blocks of 16 seeds do not add up to 41 runs"), "{blocks}");
    }

    #[test]
    fn rejects_seeds_in_disorder() {
        let gap = |from, to| SeedRange { from: Seed(from), to: Seed(to) };
        let said = "seeds 3..44: the gaps are not in ascending order, or some seeds are outside \
                    the shard of the sweep";
        assert_eq!(refused(|sweep| sweep.gaps = vec![gap(9, 5)]), said);
        assert_eq!(refused(|sweep| sweep.gaps = vec![gap(5, 9), gap(8, 10)]), said);
        assert_eq!(refused(|sweep| sweep.whole = Some(gap(10, 44))), said);
        let cut = refused(|sweep| sweep.whole = Some(gap(0, 44)));
        assert_eq!(
            cut,
            "seeds 3..44: the value of 'complete' does not match the listed seeds and gaps"
        );
    }
}
