//! Runs a workload for `sim/benches/instructions.sh`, which counts the workload's instructions.

mod stock;

use fencepost::run::verdicts::FinishedRun;
use fencepost::studies::bench::Workload;
use fencepost::{Engine, RunOutcome, RunSpec, Scenario};
use fencepost_faults::Seed;
use fencepost_reports::judge::phases::phases;
use fencepost_reports::summary::sweep::{Cell, RunSummary};
use std::rc::Rc;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SEEDS: u64 = 8;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let kind = arguments.first().map_or("fast", String::as_str);
    let runs: u64 = arguments.get(1).and_then(|runs| runs.parse().ok()).unwrap_or(1);
    let mut cell = Cell::new("single-node", "failover");
    let (mut commands, mut events) = (0, 0);
    for seed in (0..runs).map(|run| run % SEEDS) {
        let (more_commands, more_events) = match kind {
            "stock" | "stock-bare" => {
                let run = if kind == "stock" { stock::run } else { stock::run_bare };
                run(seed, 0);
                (0, 0)
            }
            "bare" => {
                let figures = Workload::default().run_bare(seed, Engine::Fast);
                (figures.commands, figures.events)
            }
            "failover" => (0, scenario(seed, "single-node", "failover").1.events),
            "masters" => (0, scenario(seed, "redlock", "none").1.events),
            "judged" => (0, judged(seed, &mut cell)),
            _ => {
                let engine = if kind == "turmoil" { Engine::Turmoil } else { Engine::Fast };
                let figures = Workload::default().run(seed, engine);
                (figures.commands, figures.events)
            }
        };
        commands += more_commands;
        events += more_events;
    }
    println!("{commands} commands {events} events");
}

fn scenario(seed: u64, client: &str, family: &str) -> (RunSpec, RunOutcome) {
    let client = fencepost_clients::find(client).expect("the lock is in the table");
    let families = family.parse().expect("the family is in the table");
    let spec = RunSpec::draw(Seed(seed), client, &families, Rc::new(Scenario::default()));
    let outcome = spec.run(Engine::Fast).expect("the run comes to its end");
    (spec, outcome)
}

fn judged(seed: u64, cell: &mut Cell) -> u64 {
    let (spec, outcome) = scenario(seed, "single-node", "failover");
    let facts = FinishedRun { spec: &spec, outcome: &outcome }.facts();
    cell.add(&RunSummary { seed: spec.seed, run: &facts, phases: &phases(&outcome.history) });
    outcome.events
}
