//! Compares a published matrix with a new one ([`stale`]).
//!
//! With the same program, configuration, rule and seeds, the numbers of violated and of exercised
//! runs, the counts by rule and the first seeds must be equal. Otherwise, Fisher's exact test
//! (Fisher 1922) compares the shares, at a significance level of 5 % over all comparisons
//! (Bonferroni). If only the last seed differs, first seeds must also be equal within the common
//! range. A cell is always stale if it is in only one matrix, or was quiet and is now violated.

use super::{CellVerdict, Matrix, MatrixCell};
use crate::judge::finding::Kind;
use crate::summary::sweep::{Hits, p_value};
use fencepost_faults::Seed;

const FALSE_ALARMS: f64 = 0.05;

pub fn stale(published: &Matrix, now: &Matrix) -> Vec<String> {
    let mut told = Vec::new();
    for cell in &published.cells {
        if now.cell(&cell.client, &cell.fault).is_none() {
            told.push(format!("{}: published, but no longer present", name(cell)));
        }
    }
    let same_meaning =
        published.tool == now.tool && published.config == now.config && published.kind == now.kind;
    let comparisons = (now.cells.len() * (Kind::ALL.len() + 2)).max(1);
    let limit = FALSE_ALARMS / comparisons as f64;
    for cell in &now.cells {
        match published.cell(&cell.client, &cell.fault) {
            None => told.push(format!("{}: not published", name(cell))),
            Some(known) if same_meaning && published.seeds == now.seeds => {
                told.extend(not_the_same(known, cell))
            }
            Some(known) => {
                let both = (same_meaning && published.seeds.from == now.seeds.from)
                    .then(|| published.seeds.to.min(now.seeds.to));
                told.extend(
                    both.and_then(|end| another_first_seed(known, cell, end))
                        .or_else(|| beyond_chance(known, cell, limit)),
                );
            }
        }
    }
    told
}

fn name(cell: &MatrixCell) -> String {
    format!("{} under {}", cell.client, cell.fault)
}

fn not_the_same(known: &MatrixCell, now: &MatrixCell) -> Option<String> {
    let counts =
        |cell: &MatrixCell| format!("{} of {} {:?}", cell.violated, cell.exercised, cell.kinds);
    let same = (known.violated, known.exercised, &known.kinds, &known.first_seed)
        == (now.violated, now.exercised, &now.kinds, &now.first_seed);
    (!same).then(|| {
        format!(
            "{}: the same seeds now give {}, but {} is published",
            name(now),
            counts(now),
            counts(known)
        )
    })
}

fn another_first_seed(known: &MatrixCell, now: &MatrixCell, end: Seed) -> Option<String> {
    let first = |cell: &MatrixCell, kind: Kind| {
        cell.first_seed.get(&kind).copied().filter(|seed| *seed < end)
    };
    let kind = Kind::ALL.iter().copied().find(|kind| first(known, *kind) != first(now, *kind))?;
    let told = |seed: Option<Seed>| seed.map_or("none".to_owned(), |seed| seed.to_string());
    let (before, after) = (told(first(known, kind)), told(first(now, kind)));
    Some(format!(
        "{}: below seed {end} the first {kind} is now {after}, but {before} is published",
        name(now)
    ))
}

fn beyond_chance(known: &MatrixCell, now: &MatrixCell, limit: f64) -> Option<String> {
    if known.verdict == CellVerdict::Quiet && now.verdict == CellVerdict::Violated {
        let (violated, exercised) = (now.violated, now.exercised);
        return Some(format!(
            "{}: published as quiet, but {violated} of {exercised} runs are now violated",
            name(now)
        ));
    }
    let differs = |what: &str, hits: &dyn Fn(&MatrixCell) -> Hits| {
        let (before, after) = (hits(known), hits(now));
        (p_value(before, after) < limit).then(|| {
            format!(
                "{}: {what} now in {} of {} runs, but {} of {} are published",
                name(now),
                after.hits,
                after.trials,
                before.hits,
                before.trials
            )
        })
    };
    let of_kind = |cell: &MatrixCell, kind: Kind| cell.kinds.get(&kind).copied().unwrap_or(0);
    let mut kinds = Kind::ALL.iter().copied();
    differs("a violation", &|cell| Hits { hits: cell.violated, trials: cell.exercised })
        .or_else(|| {
            differs("a lock exercised", &|cell| Hits { hits: cell.exercised, trials: cell.runs })
        })
        .or_else(|| {
            kinds.find_map(|kind| {
                let hits = |cell: &MatrixCell| of_kind(cell, kind);
                differs(kind.name(), &|cell| Hits { hits: hits(cell), trials: cell.exercised })
            })
        })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{cell, matrix};
    use super::*;
    use crate::summary::sweep::SeedRange;

    fn elsewhere(mut matrix: Matrix) -> Matrix {
        matrix.seeds = SeedRange { from: Seed(1_000), to: Seed(1_100) };
        matrix
    }

    #[test]
    fn accepts_the_same_matrix_and_what_chance_explains() {
        let published = matrix(vec![cell("redlock", "pause", 40), cell("redlock", "none", 0)]);
        assert_eq!(stale(&published, &published), Vec::<String>::new());
        let other =
            elsewhere(matrix(vec![cell("redlock", "pause", 49), cell("redlock", "none", 0)]));
        assert_eq!(stale(&published, &other), Vec::<String>::new());
    }

    #[test]
    fn rejects_other_counts_of_the_same_seeds() {
        let published = matrix(vec![cell("redlock", "pause", 40)]);
        let told = stale(&published, &matrix(vec![cell("redlock", "pause", 41)]));
        assert!(told[0].contains("same seeds"), "{told:?}");
    }

    #[test]
    fn rejects_another_first_seed_however_few_seeds_are_run() {
        let published = matrix(vec![cell("redlock", "pause", 40)]);
        let mut few = matrix(vec![cell("redlock", "pause", 5)]);
        few.seeds.to = Seed(20);
        (few.cells[0].runs, few.cells[0].exercised) = (20, 20);
        assert_eq!(stale(&published, &few), Vec::<String>::new(), "17 is the first seed in both");
        few.seeds.to = Seed(10);
        few.cells[0].first_seed.clear();
        assert_eq!(stale(&published, &few), Vec::<String>::new(), "below 10 there is none in both");
        few.cells[0].first_seed.insert(Kind::Overlap, Seed(3));
        assert!(
            stale(&published, &few)[0]
                .contains("the first overlap is now 3, but none is published")
        );
    }

    #[test]
    fn rejects_what_chance_does_not_explain() {
        let published = matrix(vec![cell("redlock", "pause", 10), cell("redlock", "none", 0)]);
        let more = stale(
            &published,
            &elsewhere(matrix(vec![cell("redlock", "pause", 60), cell("redlock", "none", 1)])),
        );
        assert_eq!(more.len(), 2, "{more:?}");
        assert!(more[1].contains("published as quiet"), "{more:?}");
    }

    #[test]
    fn rejects_cells_that_came_or_went() {
        let published = matrix(vec![cell("redlock", "pause", 10)]);
        let told = stale(&published, &elsewhere(matrix(vec![cell("redlock", "none", 0)])));
        assert_eq!(told.len(), 2, "{told:?}");
    }
}
