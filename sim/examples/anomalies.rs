//! Measures the rows of docs/anomalies.md again, and prints the page with the new rows. The main
//! table gives, for each anomaly, the median number of seeds until the anomaly appears, over 20
//! disjoint ranges of 100 seeds.
//!
//! `cargo run --release --example anomalies -- [ID_PREFIX]`. Without a prefix, measures all rows.

#[path = "../tests/simulation/anomalies/measure.rs"]
mod measure;
#[path = "../tests/simulation/anomalies/progress.rs"]
mod progress;
#[path = "../tests/simulation/anomalies/rows.rs"]
mod rows;

use fencepost_reports::Kind;
use measure::{seeds_to_first, shown_under, shown_under_plan};
use progress::{Progress, history};
use rayon::prelude::*;
use rows::written::{WRITTEN, Written};
use rows::{Case, Row, SLOW, Slow};
use std::sync::atomic::{AtomicUsize, Ordering};

const RANGES: u64 = 20;
const LENGTH: u64 = 100;
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/anomalies.md");

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let rows: Vec<&Row> = rows::rows().filter(|row| row.id.starts_with(&wanted)).collect();
    let slow: Vec<&Slow> = SLOW.iter().filter(|row| row.id.starts_with(&wanted)).collect();
    let written: Vec<&Written> = WRITTEN.iter().filter(|row| row.id.starts_with(&wanted)).collect();
    let tables = [
        in_parallel(&rows, |row| (line(row), format!("{} {}", row.id, row.flawed.client))),
        in_parallel(&written, |row| {
            (written_line(row), format!("{} {}", row.id, row.flawed.client))
        }),
        in_parallel(&slow, |row| (slow_line(row), format!("{} {}", row.id, row.flawed.client))),
    ];
    let page = std::fs::read_to_string(PAGE).expect("docs/anomalies.md can be read");
    print!("{}", page_with(&page, tables, &wanted));
}

/// Returns the page with `tables` instead of its rows of the anomalies in `wanted`.
fn page_with(page: &str, tables: [Vec<String>; 3], wanted: &str) -> String {
    let is_row = |line: &str| line.starts_with(&format!("| {wanted}")) && !line.starts_with("| |");
    let mut tables = tables.into_iter();
    let mut new = None;
    let mut new_page = String::new();
    for text in page.lines() {
        if text.starts_with("| --- |") {
            new = tables.next();
        } else if is_row(text)
            && let Some(rows) = &mut new
        {
            rows.drain(..).for_each(|row| new_page += &format!("{row}\n"));
            continue;
        }
        new_page += &format!("{text}\n");
    }
    new_page
}

fn in_parallel<T: Sync>(items: &[T], make: impl Fn(&T) -> (String, String) + Sync) -> Vec<String> {
    let done = AtomicUsize::new(0);
    let told = |item| {
        let (line, name) = make(item);
        eprintln!("{} of {}: {name}", done.fetch_add(1, Ordering::Relaxed) + 1, items.len());
        line
    };
    items.par_iter().with_max_len(1).map(told).collect()
}

fn slow_line(row: &Slow) -> String {
    let columns = |case: Case| {
        let mut progress = Progress::default();
        (0..RANGES).for_each(|seed| progress.add(&history(case, row.fault, seed)));
        let (idle, longest) = (progress.idle_permille(), progress.idle_us_max / 1_000);
        let asked = progress.granted + progress.missed;
        let split = progress.split_permille();
        format!(
            "{}.{} % | {longest} ms | {} of {asked} | {}.{} %",
            idle / 10,
            idle % 10,
            progress.missed,
            split / 10,
            split % 10
        )
    };
    let (flawed, twin) = (columns(row.flawed), columns(row.twin));
    format!(
        "| {} | {} | {} | {} | {flawed} | {} | {twin} |",
        row.id,
        row.flawed.client,
        row.fault,
        settings(row.flawed),
        name(row.twin)
    )
}

fn written_line(row: &Written) -> String {
    let counted = |case: Case| {
        let (mut first, mut shown, mut exercised) = (None, 0, 0);
        for seed in 0..LENGTH * RANGES {
            let look = shown_under_plan(row, case, seed);
            let shows = look.any_of(row.kinds) && look.causes.contains(&row.cause);
            first = first.or(shows.then_some(seed));
            shown += u64::from(shows);
            exercised += u64::from(look.exercised);
        }
        (
            first.map_or("none".to_owned(), |seed| seed.to_string()),
            format!("{shown} of {exercised}"),
        )
    };
    let ((first, shown), (_, quiet)) = (counted(row.flawed), counted(row.twin));
    let kinds: Vec<&str> = row.kinds.iter().copied().map(Kind::name).collect();
    format!(
        "| {} | {} | {} | {} | {} by {} | {first} | {shown} | {} | {quiet} | {} |",
        row.id,
        row.flawed.client,
        settings(row.flawed),
        row.about,
        kinds.join(" or "),
        row.cause,
        name(row.twin),
        row.seeds
    )
}

fn line(row: &Row) -> String {
    let range = |number: u64| number * LENGTH..(number + 1) * LENGTH;
    let took = |number: u64| seeds_to_first(row.flawed, row.fault, row.kinds, range(number));
    let firsts: Vec<Option<u64>> = (0..RANGES).map(took).collect();
    let mut sorted: Vec<u64> = firsts.iter().map(|first| first.unwrap_or(u64::MAX)).collect();
    sorted.sort_unstable();
    let (median, least, most) = (sorted[sorted.len() / 2], sorted[0], sorted[sorted.len() - 1]);
    let text =
        |count: u64| if count == u64::MAX { format!("> {LENGTH}") } else { count.to_string() };
    let (twin, shows) = match row.twin {
        Some(twin) => (name(twin), quiet(row, twin, &firsts)),
        None => ("none".to_owned(), String::new()),
    };
    let kinds: Vec<&str> = row.kinds.iter().copied().map(Kind::name).collect();
    format!(
        "| {} | {} | {} | {} | {} | {} | {} to {} | {twin} | {shows} | {} |",
        row.id,
        row.flawed.client,
        row.fault,
        settings(row.flawed),
        kinds.join(" or "),
        text(median),
        text(least),
        text(most),
        row.seeds
    )
}

fn quiet(row: &Row, twin: Case, firsts: &[Option<u64>]) -> String {
    let (mut shown, mut exercised) = (0, 0);
    for (range, first) in (0..).zip(firsts) {
        for seed in range * LENGTH..range * LENGTH + first.unwrap_or(LENGTH) {
            let look = shown_under(twin, row.fault, seed);
            shown += u64::from(look.any_of(row.kinds));
            exercised += u64::from(look.exercised);
        }
    }
    format!("{shown} of {exercised}")
}

fn name(case: Case) -> String {
    match settings(case).as_str() {
        "" => case.client.to_owned(),
        settings => format!("{}, {settings}", case.client),
    }
}

fn settings(case: Case) -> String {
    let deviations = (case.scenario)().deviations();
    deviations.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}
