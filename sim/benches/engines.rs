//! Workload W (1 Redis, 3 processes x 20 acquire/hold/release cycles) on stock turmoil and on our engines, side by side in one run.
//!
//! `cargo bench --bench engines` prints the time per run; the ratios are what counts.

mod stock;

use criterion::{Criterion, criterion_group, criterion_main};
use fencepost::Engine;
use fencepost::bench::run;
use std::time::Duration;

/// Hosts besides the Redis and the three processes.
const IDLE: [(u16, u16); 2] = [(4, 0), (9, 5)];

fn engines(criterion: &mut Criterion) {
    let quanta = [("1ms", Duration::from_millis(1)), ("100us", Duration::from_micros(100))];
    for (hosts, idle) in IDLE {
        let mut group = criterion.benchmark_group(format!("{hosts} hosts"));
        group.sample_size(10).measurement_time(Duration::from_secs(4));
        let mut seed = 0;
        let mut next = move || {
            seed = (seed + 1) % 8;
            seed
        };
        group.bench_function("stock turmoil, Sim::run, 1ms", |bencher| bencher.iter(|| stock::run(next(), idle)));
        for (name, quantum) in quanta {
            group.bench_function(format!("turmoil engine, {name}"), |bencher| {
                bencher.iter(|| run(next(), Engine::Turmoil, quantum, idle));
            });
            group.bench_function(format!("fast engine, {name}"), |bencher| {
                bencher.iter(|| run(next(), Engine::Fast, quantum, idle));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, engines);
criterion_main!(benches);
