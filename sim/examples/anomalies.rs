//! Writes the table of docs/anomalies.md: for every anomaly the median over 20 disjoint ranges of seeds of how many it takes to see it, and in how
//! many of the same runs its twin shows it; and what locks make of their time.
//!
//! `cargo run --release --example anomalies > docs/anomalies.md`; an argument sets the length of a range (100).

#[path = "../tests/anomalies/measure.rs"]
mod measure;
#[path = "../tests/anomalies/progress.rs"]
mod progress;
#[path = "../tests/anomalies/rows.rs"]
mod rows;

use fencepost_reports::Kind;
use measure::{look, seeds_to_first};
use progress::{Progress, history};
use rows::{Case, ROWS, Row, SLOW, Slow};

/// How many ranges.
const RANGES: u64 = 20;

fn main() {
    let length = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100);
    println!("# How many seeds an anomaly takes\n");
    println!(
        "Over {RANGES} disjoint ranges of {length} seeds from 0; a range in which nothing shows counts as longer than {length}. The twin ran the seeds that the ranges of"
    );
    println!("the flawed lock took, {RANGES} at least. Made by `cargo run --release --example anomalies`.\n");
    println!("\n`cargo test --test anomalies` looks at the seeds from 0 to the number in the last column.\n");
    println!("| | lock | fault | settings | shows | median | least and most | twin | shows it in | tested |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for row in ROWS {
        println!("{}", line(row, length));
    }
    println!("\n## What is a matter of time\n");
    println!(
        "Over {RANGES} seeds: the part of the time in which some process wanted the lock and none had it, the longest such stretch, and the acquires"
    );
    println!(
        "that did not bring the lock. A dead waiter of a fair lock delays the queue by its timeout (40 s), and two of them by twice that.\n"
    );
    println!("| | lock | fault | idle | longest | missed | twin | idle | longest | missed |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for row in SLOW {
        println!("{}", slow_line(row));
    }
}

fn slow_line(row: &Slow) -> String {
    let columns = |case: Case| {
        let mut progress = Progress::default();
        (0..RANGES).for_each(|seed| progress.add(&history(case, row.fault, seed)));
        let (idle, longest) = (progress.idle_permille(), progress.idle_us_max / 1_000);
        let asked = progress.granted + progress.missed;
        format!("{}.{} % | {longest} ms | {} of {asked}", idle / 10, idle % 10, progress.missed)
    };
    let (flawed, twin) = (columns(row.flawed), columns(row.twin));
    format!("| {} | {} | {} | {flawed} | {} | {twin} |", row.id, row.flawed.client, row.fault, row.twin.client)
}

fn line(row: &Row, length: u64) -> String {
    let range = |number: u64| number * length..(number + 1) * length;
    let took = |number: u64| seeds_to_first(row.flawed, row.fault, row.kinds, range(number));
    let firsts: Vec<Option<u64>> = (0..RANGES).map(took).collect();
    let mut sorted: Vec<u64> = firsts.iter().map(|first| first.unwrap_or(u64::MAX)).collect();
    sorted.sort_unstable();
    // Of an even number of ranges, the later of the two in the middle.
    let (median, least, most) = (sorted[sorted.len() / 2], sorted[0], sorted[sorted.len() - 1]);
    let text = |count: u64| if count == u64::MAX { format!("> {length}") } else { count.to_string() };
    let (twin, shows) = match row.twin {
        Some(twin) => (name(twin), quiet(row, twin, &firsts, length)),
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

/// In how many of the runs that the flawed lock took the twin shows the same.
fn quiet(row: &Row, twin: Case, firsts: &[Option<u64>], length: u64) -> String {
    let (mut shown, mut exercised) = (0, 0);
    for (range, first) in (0..).zip(firsts) {
        for seed in range * length..range * length + first.unwrap_or(length) {
            let look = look(twin, row.fault, seed);
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

/// What differs from the built-in scenario, as `--set` takes it.
fn settings(case: Case) -> String {
    let deviations = (case.scenario)().deviations();
    deviations.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
}
