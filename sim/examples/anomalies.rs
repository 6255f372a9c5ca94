//! Prints docs/anomalies.md. The main table gives, for each anomaly, the median number of seeds
//! until the anomaly appears, over 20 disjoint ranges of seeds.
//!
//! `cargo run --release --example anomalies -- [SEEDS] [THREADS] [ID_PREFIX] > docs/anomalies.md`.
//! By default, a range has 100 seeds, and the example uses all cores and prints all rows.

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
use rayon::{ThreadPool, ThreadPoolBuilder};
use rows::written::{WRITTEN, Written};
use rows::{Case, Row, SLOW, Slow};
use std::sync::atomic::{AtomicUsize, Ordering};

const RANGES: u64 = 20;

const PARTITIONS: &str = "\
In a plain partition a session ends only if its holder is cut off for longer than the session lasts.
All figures in this paragraph use `--strategy uniform`, unless stated otherwise. At default settings
critical sections are shorter than a session, and `curator-mutex` overlaps in 1 of 200 seeds. The
two rows of E2 under `partition` with holds of 11 s to 19 s show the anomaly. With these holds, cuts
of 8 s to 10 s (`--set partition=8s..10s`) and one server, a holder that leaves at SUSPENDED
(`curator-suspended`) overlaps in 2 of 600 seeds (with aimed cuts, in 2 of 80 runs). With an
ensemble it overlaps in 10 of 200 seeds, and `curator-mutex` in 25. A process in the queue may keep
waiting with the node of a session that has ended for its client but not yet for the servers (as in
seeds 25 and 57). The process enters with that node. When the node disappears later, no connection
is suspended, so the process does not leave.
";

fn main() {
    let argument = |place| std::env::args().nth(place).and_then(|text| text.parse().ok());
    let length: u64 = argument(1).unwrap_or(100);
    let threads = argument(2).unwrap_or(0) as usize;
    let pool =
        ThreadPoolBuilder::new().num_threads(threads).build().expect("there are threads to be had");
    let wanted = std::env::args().nth(3).unwrap_or_default();
    let rows: Vec<&Row> = rows::rows().filter(|row| row.id.starts_with(&wanted)).collect();
    let slow: Vec<&Slow> = SLOW.iter().filter(|row| row.id.starts_with(&wanted)).collect();
    let written: Vec<&Written> = WRITTEN.iter().filter(|row| row.id.starts_with(&wanted)).collect();
    let lines = in_parallel(&pool, &rows, |row| {
        (line(row, length), format!("{} {}", row.id, row.flawed.client))
    });
    let slow_lines = in_parallel(&pool, &slow, |row| {
        (slow_line(row), format!("{} {}", row.id, row.flawed.client))
    });
    let written_lines = in_parallel(&pool, &written, |row| {
        (written_line(row, length), format!("{} {}", row.id, row.flawed.client))
    });
    println!("# How many seeds an anomaly takes\n");
    println!(
        "\
For each anomaly, this table gives the median number of seeds until the anomaly appears, over \
{RANGES}
disjoint ranges of {length} seeds, the first of which starts at seed 0. A range without the anomaly
counts as longer than {length}. In each range, the twin of a lock (its fixed version) ran the seeds \
up to
the first that shows the anomaly. To make this page, run `cargo run --release --example anomalies --
{length}`. fencepost aims about half of the faults ([search.md](search.md)), unless the settings say
otherwise.
"
    );
    println!(
        "\
`cargo test --test simulation anomalies -- --include-ignored` runs the seeds from 0 to the number in
the last column.
"
    );
    println!(
        "| | lock | fault | settings | shows | median | least and most | twin | shows it in | \
         tested |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    lines.iter().for_each(|line| println!("{line}"));
    print_written(&written_lines, length);
    print_slow(&slow_lines);
}

fn print_written(lines: &[String], length: u64) {
    println!("\n{PARTITIONS}\n## Plans written by hand\n");
    let last = length * RANGES;
    println!(
        "\
Some anomalies need one fault directly after another, which random draws rarely produce.
`sim/tests/simulation/anomalies/rows/written.rs` has these faults; the seeds from 0 to {last} draw
everything else.
"
    );
    println!(
        "| | lock | settings | faults | shows | first seed | in | twin | shows it in | tested |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    lines.iter().for_each(|line| println!("{line}"));
}

fn print_slow(lines: &[String]) {
    println!("\n## Time without a holder\n");
    println!(
        "\
For {RANGES} seeds, the table shows how long the lock was free while a process wanted it (idle, \
as a share
of the time in which a process wanted the lock), the longest such period, and the acquires that did
not get the lock (missed). `split` is the share of attempts that did not get the lock although some
server granted its part. A dead waiter of a fair lock delays the queue by its timeout (40 s), and
two dead waiters by twice that. memcached counts leases in whole seconds from its last clock
reading: a lease of 10 s ends up to a second early, and a lease of 11 s (`memcached-cas`, whose
leases last at least 10 s) up to a second late. A late end does no harm: after a crash of the
holder, waiters only wait up to a second longer.
"
    );
    println!(
        "| | lock | fault | settings | idle | longest | missed | split | twin | idle | longest | \
         missed | split |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    lines.iter().for_each(|line| println!("{line}"));
}

fn in_parallel<T: Sync>(
    pool: &ThreadPool,
    items: &[T],
    make: impl Fn(&T) -> (String, String) + Sync,
) -> Vec<String> {
    let done = AtomicUsize::new(0);
    let told = |item| {
        let (line, name) = make(item);
        eprintln!("{} of {}: {name}", done.fetch_add(1, Ordering::Relaxed) + 1, items.len());
        line
    };
    pool.install(|| items.par_iter().with_max_len(1).map(told).collect())
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

fn written_line(row: &Written, length: u64) -> String {
    let counted = |case: Case| {
        let (mut first, mut shown, mut exercised) = (None, 0, 0);
        for seed in 0..length * RANGES {
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

fn line(row: &Row, length: u64) -> String {
    let range = |number: u64| number * length..(number + 1) * length;
    let took = |number: u64| seeds_to_first(row.flawed, row.fault, row.kinds, range(number));
    let firsts: Vec<Option<u64>> = (0..RANGES).map(took).collect();
    let mut sorted: Vec<u64> = firsts.iter().map(|first| first.unwrap_or(u64::MAX)).collect();
    sorted.sort_unstable();
    let (median, least, most) = (sorted[sorted.len() / 2], sorted[0], sorted[sorted.len() - 1]);
    let text =
        |count: u64| if count == u64::MAX { format!("> {length}") } else { count.to_string() };
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

fn quiet(row: &Row, twin: Case, firsts: &[Option<u64>], length: u64) -> String {
    let (mut shown, mut exercised) = (0, 0);
    for (range, first) in (0..).zip(firsts) {
        for seed in range * length..range * length + first.unwrap_or(length) {
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
