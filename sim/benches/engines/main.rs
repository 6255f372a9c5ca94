//! Compares the processor time of the engines (`cargo bench --bench engines`).

mod stock;

use fencepost::studies::bench::{Workload, replay};
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_faults::Seed;
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SEEDS: u64 = 8;
const ROUNDS: usize = 3;

type Timed<'t> = (String, Box<dyn Fn(u64) -> u64 + 't>);

struct Cost {
    runs_per_second: f64,
    nanoseconds_per_event: f64,
}

fn main() {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let patience = Duration::from_millis(if is_quick { 100 } else { 1_000 });
    against_stock(patience);
    bare_against_stock(patience);
    against_direct_execution(patience);
    topologies(patience);
    sizes(patience);
    threads(patience);
}

fn against_stock(patience: Duration) {
    println!("| workload W | runs/s | x stock | ns/event |\n| --- | ---: | ---: | ---: |");
    for (hosts, idle) in [(4, 0), (9, 5)] {
        let stock = |seed| {
            stock::run(seed, idle);
            0
        };
        let mut timed: Vec<Timed<'_>> =
            vec![(format!("{hosts} hosts, stock turmoil, `Sim::run`, 1 ms"), Box::new(stock))];
        for (name, quantum) in
            [("1 ms", 1_000), ("100 us", 100)].map(|(name, us)| (name, Duration::from_micros(us)))
        {
            for engine in [Engine::Turmoil, Engine::Fast] {
                let workload = Workload { idle, quantum, ..Workload::default() };
                let run = move |seed| workload.run(seed, engine).events;
                timed.push((
                    format!("{hosts} hosts, {} engine, {name}", engine.name()),
                    Box::new(run),
                ));
            }
        }
        print_ratios(&timed, patience);
    }
}

fn bare_against_stock(patience: Duration) {
    println!(
        "\n| workload W, a byte for each command and reply | runs/s | x stock | ns/event |\n| --- \
         | ---: | ---: | ---: |"
    );
    for (hosts, idle) in [(4, 0), (9, 5)] {
        let stock = |seed| {
            stock::run_bare(seed, idle);
            0
        };
        let workload = Workload { idle, ..Workload::default() };
        let timed: Vec<Timed<'_>> = vec![
            (format!("{hosts} hosts, stock turmoil, `Sim::run`, 1 ms"), Box::new(stock)),
            (
                format!("{hosts} hosts, turmoil engine, 1 ms"),
                Box::new(|seed| workload.run_bare(seed, Engine::Turmoil).events),
            ),
            (
                format!("{hosts} hosts, fast engine, 1 ms"),
                Box::new(|seed| workload.run_bare(seed, Engine::Fast).events),
            ),
        ];
        print_ratios(&timed, patience);
    }
}

fn print_ratios(timed: &[Timed<'_>], patience: Duration) {
    let costs = measure(timed, patience);
    for ((name, _), cost) in timed.iter().zip(&costs) {
        let ratio = cost.runs_per_second / costs[0].runs_per_second;
        println!(
            "| {name} | {:.0} | {ratio:.1} | {:.0} |",
            cost.runs_per_second, cost.nanoseconds_per_event
        );
    }
}

fn against_direct_execution(patience: Duration) {
    let workload = Workload::default();
    let told: Vec<_> = (0..SEEDS).map(|seed| workload.record(seed)).collect();
    let timed: Vec<Timed<'_>> = vec![
        (
            "fast engine, end to end".to_owned(),
            Box::new(|seed| workload.run(seed, Engine::Fast).commands),
        ),
        (
            "the same commands, told to a server directly".to_owned(),
            Box::new(|seed| replay(&told[seed as usize])),
        ),
    ];
    let costs = measure(&timed, patience);
    println!("\n| workload W | ns/command | of end to end |\n| --- | ---: | ---: |");
    for ((name, _), cost) in timed.iter().zip(&costs) {
        let share = 100.0 * cost.nanoseconds_per_event / costs[0].nanoseconds_per_event;
        println!("| {name} | {:.0} | {share:.0} % |", cost.nanoseconds_per_event);
    }
}

fn topologies(patience: Duration) {
    let run = |client: &'static str, family: &'static str| {
        move |seed| {
            let client = fencepost_clients::find(client).expect("the lock is in the table");
            let families = family.parse().expect("the family is in the table");
            let spec = RunSpec::draw(Seed(seed), client, &families, Rc::new(Scenario::default()));
            spec.run(Engine::Fast).expect("the run comes to its end").events
        }
    };
    let timed: Vec<Timed<'_>> = vec![
        ("one Redis, single-node, no fault".to_owned(), Box::new(run("single-node", "none"))),
        (
            "primary, 2 replicas, 3 Sentinels, single-node, failover".to_owned(),
            Box::new(run("single-node", "failover")),
        ),
        ("five masters, redlock, no fault".to_owned(), Box::new(run("redlock", "none"))),
        ("five masters, redlock, restart".to_owned(), Box::new(run("redlock", "restart"))),
    ];
    println!("\n| default scenario, fast engine | runs/s | ns/event |\n| --- | ---: | ---: |");
    for ((name, _), cost) in timed.iter().zip(measure(&timed, patience)) {
        println!("| {name} | {:.0} | {:.0} |", cost.runs_per_second, cost.nanoseconds_per_event);
    }
}

fn sizes(patience: Duration) {
    let sized = |processes: u16, cycles: u32| {
        let workload = Workload { processes, cycles, ..Workload::default() };
        let run = move |seed| workload.run(seed, Engine::Fast).events;
        (
            format!("{processes} processes x {cycles} cycles"),
            Box::new(run) as Box<dyn Fn(u64) -> u64>,
        )
    };
    let timed: Vec<Timed<'_>> = [(3, 10), (3, 100), (3, 1_000), (3, 10_000), (8, 20), (64, 20)]
        .map(|(processes, cycles)| sized(processes, cycles))
        .into();
    println!("\n| fast engine, 1 ms | ns/event |\n| --- | ---: |");
    for ((name, _), cost) in timed.iter().zip(measure(&timed, patience)) {
        println!("| {name} | {:.0} |", cost.nanoseconds_per_event);
    }
}

fn threads(patience: Duration) {
    let rate = || {
        let timed: Vec<Timed<'_>> = vec![(
            String::new(),
            Box::new(|seed| Workload::default().run(seed, Engine::Fast).events),
        )];
        measure(&timed, patience)[0].runs_per_second
    };
    let rate_of_two = || {
        std::thread::scope(|scope| {
            let workers = [(); 2].map(|()| scope.spawn(rate));
            workers
                .into_iter()
                .map(|worker| worker.join().expect("the worker is well"))
                .sum::<f64>()
        })
    };
    let (mut one, mut two) = (0.0_f64, 0.0_f64);
    for _ in 0..ROUNDS {
        (one, two) = (one.max(rate()), two.max(rate_of_two()));
    }
    println!("\n| fast engine, workload W | runs/s | x one thread |\n| --- | ---: | ---: |");
    println!("| one thread | {one:.0} | 1.00 |\n| two threads | {two:.0} | {:.2} |", two / one);
}

fn measure(timed: &[Timed<'_>], patience: Duration) -> Vec<Cost> {
    let best: Vec<Cell<(f64, f64)>> =
        timed.iter().map(|_| Cell::new((f64::MAX, f64::MAX))).collect();
    for _ in 0..ROUNDS {
        for ((_, run), best) in timed.iter().zip(&best) {
            let (mut runs, mut events, started) = (0_u64, 0, cpu_time());
            while runs == 0 || (cpu_time() - started < patience && runs < 1_000_000) {
                for seed in 0..SEEDS {
                    events += run(seed);
                }
                runs += SEEDS;
            }
            let nanoseconds = (cpu_time() - started).as_nanos() as f64;
            let (per_run, per_event) = best.get();
            best.set((
                per_run.min(nanoseconds / runs as f64),
                per_event.min(nanoseconds / events.max(1) as f64),
            ));
        }
    }
    let cost = |(per_run, per_event): (f64, f64)| Cost {
        runs_per_second: 1e9 / per_run,
        nanoseconds_per_event: per_event,
    };
    best.iter().map(|best| cost(best.get())).collect()
}

/// Returns the thread's CPU time (the first number of `schedstat`), or elsewhere the elapsed time.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn cpu_time() -> Duration {
    thread_local! {
        static STARTED: std::time::Instant = std::time::Instant::now();
    }
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let on_processor =
        text.and_then(|text| text.split(' ').next()?.parse().ok()).map(Duration::from_nanos);
    on_processor.unwrap_or_else(|| STARTED.with(std::time::Instant::elapsed))
}
