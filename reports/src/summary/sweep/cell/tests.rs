//! What a cell counts, and which runs it keeps.

use super::*;
use crate::samples;
use crate::summary::facts::RunFacts;
use crate::summary::report::RunReport;
use crate::summary::stages::{Diagnosis, Stages};

const NO_PHASES: &[(String, String)] = &[];

/// A cell that these runs were added to, each with its seed.
fn cell(runs: &[(u64, &RunFacts)]) -> Cell {
    let mut cell = Cell::new("single-node", "pause");
    for (seed, run) in runs {
        cell.add(&RunSummary { seed: Seed(*seed), run, phases: NO_PHASES });
    }
    cell
}

/// The same run with so many faults in its plan.
fn with_faults(run: &RunFacts, faults: usize) -> RunFacts {
    let mut run = run.clone();
    let fault = run.plan.faults[0].clone();
    run.plan.faults = vec![fault; faults];
    run
}

fn kept(cell: &Cell) -> Vec<(usize, u64, u64)> {
    cell.kept().into_iter().map(|(place, kept)| (place, kept.faults, kept.seed.0)).collect()
}

#[test]
fn a_run_counts_once_for_each_rule_however_often_it_breaks_it() {
    let broken = samples::facts(samples::paused_holder());
    let (valid, unknown) = (samples::facts(samples::quiet()), samples::facts(samples::lonely()));
    let cell = cell(&[(3, &broken), (1, &valid), (2, &unknown), (0, &broken)]);
    assert_eq!((cell.runs, cell.valid, cell.violated, cell.unknown), (4, 1, 2, 1));
    let kinds: Vec<(Kind, u64)> =
        cell.violations_by_kind.iter().map(|(kind, runs)| (*kind, *runs)).collect();
    assert_eq!(kinds, [(Kind::Overlap, 2), (Kind::StaleWrite, 2), (Kind::LostUpdate, 2)]);
    assert!(cell.first_seed.values().all(|seed| *seed == Seed(0)), "{:?}", cell.first_seed);
    assert_eq!(cell.rate, Rate::of(2, 3), "what exercised nothing is not counted");
    assert_eq!(cell.quiet_bound, None);
}

#[test]
fn a_cell_without_violations_has_a_bound_that_falls_with_every_run() {
    let valid = samples::facts(samples::quiet());
    let of = |runs: u64| cell(&(0..runs).map(|seed| (seed, &valid)).collect::<Vec<_>>());
    assert_eq!(of(6).quiet_bound, Some(quiet_bound(6)));
    assert!(of(12).quiet_bound < of(6).quiet_bound, "more runs say more");
}

#[test]
fn the_smallest_run_has_the_fewest_faults_and_then_the_lowest_seed() {
    let one = samples::facts(samples::paused_holder());
    let three = with_faults(&one, 3);
    let cell = cell(&[(1, &three), (9, &one), (7, &one), (2, &three)]);
    for found in &cell.fingerprints {
        assert_eq!((found.smallest.faults, found.smallest.seed), (1, Seed(7)), "{}", found.id);
        assert_eq!(found.runs, 4);
        let others: Vec<(u64, u64)> =
            found.others.iter().map(|kept| (kept.faults, kept.seed.0)).collect();
        assert_eq!(others, [(1, 9), (3, 1), (3, 2)]);
    }
}

#[test]
fn the_smallest_of_each_anomaly_is_kept_before_the_second_of_any() {
    let one = samples::facts(samples::paused_holder());
    let cell = cell(&[(5, &one), (4, &one)]);
    let anomalies = cell.fingerprints.len();
    assert_eq!(anomalies, 3);
    assert_eq!(kept(&cell), [(0, 1, 4), (1, 1, 4), (2, 1, 4), (0, 1, 5), (1, 1, 5), (2, 1, 5)]);
}

#[test]
fn what_is_beyond_the_bound_is_forgotten_but_no_anomaly_is() {
    let one = samples::facts(samples::paused_holder());
    let mut bounded = Cell { violations_max: 4, ..Cell::new("single-node", "pause") };
    let mut none = Cell { violations_max: 0, ..bounded.clone() };
    for seed in 0..6 {
        let summary = RunSummary { seed: Seed(seed), run: &one, phases: NO_PHASES };
        bounded.add(&summary);
        none.add(&summary);
    }
    assert_eq!(kept(&bounded), [(0, 1, 0), (1, 1, 0), (2, 1, 0), (0, 1, 1)]);
    assert_eq!(kept(&none), [(0, 1, 0), (1, 1, 0), (2, 1, 0)]);
    assert!(bounded.fingerprints.iter().all(|found| found.runs == 6), "all are counted");
}

#[test]
fn an_anomaly_is_confirmed_by_its_smallest_run_only() {
    let one = samples::facts(samples::paused_holder());
    let mut cell = cell(&[(4, &one), (5, &one)]);
    cell.confirm(Seed(5));
    assert_eq!(cell.confirmed_under_turmoil, 0);
    cell.confirm(Seed(4));
    assert_eq!(cell.confirmed_under_turmoil, 3);
    // A smaller run has not been seen under turmoil yet.
    cell.add(&RunSummary { seed: Seed(3), run: &one, phases: NO_PHASES });
    assert_eq!(cell.confirmed_under_turmoil, 0);
}

#[test]
fn an_explanation_goes_to_its_anomaly_and_leaves_with_a_smaller_run() {
    let one = samples::facts(samples::paused_holder());
    let mut cell = cell(&[(4, &one)]);
    let stages = Stages { diagnosis: Diagnosis::default(), ..one.clone().into() };
    let explained = RunReport::from(stages).violations.remove(1);
    let id = explained.violation.id.clone();
    cell.explain(explained);
    let with_report = |cell: &Cell| -> Vec<String> {
        let found = cell.fingerprints.iter().filter(|found| found.report.is_some());
        found.map(|found| found.id.clone()).collect()
    };
    assert_eq!(with_report(&cell), [id]);
    cell.add(&RunSummary { seed: Seed(9), run: &one, phases: NO_PHASES });
    assert_eq!(with_report(&cell).len(), 1, "a run that is no smaller changes nothing");
    cell.add(&RunSummary { seed: Seed(3), run: &one, phases: NO_PHASES });
    assert_eq!(with_report(&cell), [] as [String; 0]);
}

#[test]
fn processor_time_is_told_per_run_and_up_to_the_first_violation() {
    let one = samples::facts(samples::paused_holder());
    let mut cell = cell(&[(0, &one), (1, &one)]);
    assert!(cell.measured.is_empty(), "nobody measured");
    cell.took(300);
    cell.took(100);
    assert_eq!(cell.measured.get("cpu_us"), Some(&400.0));
    assert_eq!(cell.measured.get("cpu_us_per_run"), Some(&200.0));
}

#[test]
fn phases_are_counted_for_every_fault() {
    let valid = samples::facts(samples::quiet());
    let phases = ["holding", "idle", "holding"].map(|phase| ("pause".to_owned(), phase.to_owned()));
    let mut cell = Cell::new("redlock", "pause");
    cell.add(&RunSummary { seed: Seed(0), run: &valid, phases: &phases });
    let counted = &cell.phases["pause"];
    assert_eq!((counted["holding"], counted["idle"]), (2, 1));
}

#[test]
fn two_cells_add_up_to_the_cell_of_all_runs_in_either_order() {
    let broken = samples::facts(samples::paused_holder());
    let (larger, valid) = (with_faults(&broken, 2), samples::facts(samples::quiet()));
    let (one, other) = (cell(&[(0, &larger), (1, &valid)]), cell(&[(2, &broken), (3, &valid)]));
    let (mut forth, mut back) = (one.clone(), other.clone());
    forth.absorb(&other);
    back.absorb(&one);
    assert_eq!(forth, back);
    let whole = cell(&[(3, &valid), (2, &broken), (1, &valid), (0, &larger)]);
    assert_eq!(forth.fingerprints, whole.fingerprints);
    assert_eq!((forth.runs, forth.violated, forth.rate), (whole.runs, whole.violated, whole.rate));
}
