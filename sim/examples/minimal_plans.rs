//! Prints the sizes of plans before and after minimization, and the cost of the search, for the
//! first N runs with a violation (200 by default), over all locks and families, from seed 0 on:
//! `cargo run --release --example minimal_plans -- N`.

use fencepost::diagnosis::{
    Extent, Memory, Minimal, Rates, SafeguardTrials, Target, diagnose_one, minimise,
};
use fencepost::run::verdicts::FinishedRun;
use fencepost::studies::sweep::ThreadClock;
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_clients::CLIENTS;
use fencepost_faults::{FAMILIES, Seed};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

struct Row {
    faults_before: usize,
    cycles_before: u32,
    minimal: Minimal,
}

fn main() {
    let count = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(200);
    let (rows, times) = violations(count);
    println!(
        "| lock and cause | violations | faults before | faults after | cycles before | cycles \
         after | runs searched | cut short |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (name, rows) in &rows {
        println!("| {name} {}", columns(rows));
    }
    let all: Vec<&Row> = rows.values().flatten().collect();
    println!("| **all** {}", columns(all.iter().copied()));
    println!();
    for size in 0..=all.iter().map(|row| row.minimal.spec.plan.faults.len()).max().unwrap_or(0) {
        let so_many = all.iter().filter(|row| row.minimal.spec.plan.faults.len() == size).count();
        println!("- {so_many} of {} with {size} faults", all.len());
    }
    print_times("searches", times.iter().map(|(search, _)| *search).collect());
    print_times(
        "whole diagnoses, searches included",
        times.iter().map(|(_, whole)| *whole).collect(),
    );
}

fn print_times(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let total: Duration = times.iter().sum();
    let at = |per_cent: usize| {
        times.get(times.len() * per_cent / 100).or(times.last()).map_or(0, Duration::as_millis)
    };
    let (count, mean) = (times.len(), total.as_millis() / times.len().max(1) as u128);
    eprintln!(
        "{count} {what}: {mean} ms each on average, median {}, 99 % {}, slowest {}",
        at(50),
        at(99),
        at(100)
    );
}

fn span(micros: Option<u64>) -> Duration {
    Duration::from_micros(micros.unwrap_or_default())
}

type Spent = (Duration, Duration);

fn violations(count: usize) -> (BTreeMap<String, Vec<Row>>, Vec<Spent>) {
    let scenario = Rc::new(Scenario::default());
    let (mut rows, mut times) = (BTreeMap::<String, Vec<Row>>::new(), Vec::new());
    for seed in 0.. {
        for client in CLIENTS {
            for family in FAMILIES {
                let families = (*family).into();
                let spec = RunSpec::draw(Seed(seed), client, &families, scenario.clone());
                let Ok(outcome) = spec.run(Engine::Fast) else { continue };
                let Some(first) = FinishedRun { spec: &spec, outcome: &outcome }
                    .facts()
                    .violations
                    .into_iter()
                    .next()
                else {
                    continue;
                };
                let (kind, cause) = (first.kind, first.cause);
                let search = ThreadClock::start();
                let Some(minimal) = minimise(&spec, Target { kind, cause }) else { continue };
                let search = search.micros();
                let whole = ThreadClock::start();
                let trials = SafeguardTrials::new(&spec, &Rates::default(), Extent::REPORTS);
                diagnose_one(&spec, &Memory::default(), &trials, &first);
                times.push((span(search), span(whole.micros())));
                let row = Row {
                    faults_before: spec.plan.faults.len(),
                    cycles_before: scenario.cycles,
                    minimal,
                };
                rows.entry(format!("{}, {kind} by {cause}", client.name)).or_default().push(row);
                if times.len() == count {
                    return (rows, times);
                }
            }
        }
    }
    (rows, times)
}

fn columns<'r>(rows: impl IntoIterator<Item = &'r Row>) -> String {
    let rows: Vec<&Row> = rows.into_iter().collect();
    let spread = |of: fn(&Row) -> u64| {
        let mut sizes: Vec<u64> = rows.iter().map(|row| of(row)).collect();
        sizes.sort_unstable();
        let (median, most) =
            (sizes.get(sizes.len() / 2).copied().unwrap_or(0), sizes.last().copied().unwrap_or(0));
        format!("{median} ({most})")
    };
    let cut_short = rows.iter().filter(|row| !row.minimal.complete).count();
    format!(
        "| {} | {} | {} | {} | {} | {} | {cut_short} |",
        rows.len(),
        spread(|row| row.faults_before as u64),
        spread(|row| row.minimal.spec.plan.faults.len() as u64),
        spread(|row| u64::from(row.cycles_before)),
        spread(|row| u64::from(row.minimal.spec.scenario.cycles)),
        spread(|row| u64::from(row.minimal.calls)),
    )
}
