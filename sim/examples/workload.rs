//! Runs workload W a number of times and says what it did: what `benches/instructions.sh` counts the instructions of.
//!
//! `workload KIND RUNS`, where KIND is `fast`, `turmoil`, `direct` (the same commands told to a server without any world), `failover` (one
//! primary, two replicas, three Sentinels, a storage and three processes) or `masters` (Redlock over five).

use fencepost::bench::{Workload, replay};
use fencepost::{Engine, RunSpec, Scenario};
use fencepost_faults::Seed;
use std::rc::Rc;

/// As in the program itself.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How many different seeds are run, over and over.
const SEEDS: u64 = 8;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let kind = arguments.first().map_or("fast", String::as_str);
    let runs: u64 = arguments.get(1).and_then(|runs| runs.parse().ok()).unwrap_or(1);
    let told: Vec<_> = (0..SEEDS).map(|seed| Workload::default().record(seed)).collect();
    let (mut commands, mut events) = (0, 0);
    for seed in (0..runs).map(|run| run % SEEDS) {
        let (more_commands, more_events) = match kind {
            "direct" => (replay(&told[seed as usize]), 0),
            "failover" => scenario(seed, "single-node", "failover"),
            "masters" => scenario(seed, "redlock", "none"),
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

fn scenario(seed: u64, client: &str, family: &str) -> (u64, u64) {
    let client = fencepost_clients::find(client).expect("the lock is in the table");
    let families = family.parse().expect("the family is in the table");
    let spec = RunSpec::draw(Seed(seed), client, &families, Rc::new(Scenario::default()));
    let outcome = spec.run(Engine::Fast).expect("the run comes to its end");
    (0, outcome.events)
}
