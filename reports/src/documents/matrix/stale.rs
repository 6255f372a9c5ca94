//! Compares a published matrix with a new one ([`stale`]).
//!
//! With the same program, configuration, rule and seeds, the numbers of violated and of exercised
//! runs, the counts by rule and the first seeds must be equal. Otherwise, Fisher's exact test
//! (Fisher 1922) compares the shares, at a significance level of 5 % over all comparisons
//! (Bonferroni). If only the last seed differs, first seeds must also be equal within the common
//! range. A cell is always stale if it is in only one matrix, or was quiet and is now violated.

use super::{CellVerdict, Matrix, MatrixCell};
use crate::judge::finding::Kind;
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
    let differs = |what: &str, before: (u64, u64), after: (u64, u64)| {
        (fisher(before, after) < limit).then(|| {
            format!(
                "{}: {what} now in {} of {} runs, but {} of {} are published",
                name(now),
                after.0,
                after.1,
                before.0,
                before.1
            )
        })
    };
    let of = |cell: &MatrixCell, kind: Kind| {
        (cell.kinds.get(&kind).copied().unwrap_or(0), cell.exercised)
    };
    differs("a violation", (known.violated, known.exercised), (now.violated, now.exercised))
        .or_else(|| {
            differs("a lock exercised", (known.exercised, known.runs), (now.exercised, now.runs))
        })
        .or_else(|| {
            Kind::ALL
                .iter()
                .copied()
                .find_map(|kind| differs(kind.name(), of(known, kind), of(now, kind)))
        })
}

fn fisher(one: (u64, u64), other: (u64, u64)) -> f64 {
    let (hits, trials) = (one.0 + other.0, one.1 + other.1);
    let chosen =
        |of: u64, some: u64| log_factorial(of) - log_factorial(some) - log_factorial(of - some);
    let all = chosen(trials, hits);
    let log_probability = |first: u64| chosen(one.1, first) + chosen(other.1, hits - first) - all;
    let seen = log_probability(one.0);
    let range = hits.saturating_sub(other.1)..=hits.min(one.1);
    // The tolerance keeps rounding errors from excluding outcomes as probable as the observed one.
    range.map(log_probability).filter(|log| *log <= seen + 1e-7).map(f64::exp).sum::<f64>().min(1.0)
}

/// Returns `ln n!`. From `n = 10` on, uses Stirling's series for `ln Γ(n + 1)`.
fn log_factorial(n: u64) -> f64 {
    if n < 10 {
        return (2..=n).map(|factor| (factor as f64).ln()).sum();
    }
    let x = n as f64 + 1.0;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + 1.0 / (12.0 * x)
        - 1.0 / (360.0 * x.powi(3))
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
    fn the_exact_test_agrees_with_published_values() {
        assert!((fisher((3, 4), (1, 4)) - 17.0 / 35.0).abs() < 1e-6);
        assert!((fisher((1, 11), (9, 12)) - 0.002_759_456).abs() < 1e-6);
        assert!((fisher((0, 10_000), (0, 10)) - 1.0).abs() < 1e-6);
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
