//! Both engines tell the same history: every lock, under every family of faults.
//!
//! `FENCEPOST_SEEDS` sets the number of seeds per cell; `FENCEPOST_SEEDS=21 cargo test --release --test engines` covers more than 10,000 plans.

use fencepost::{Engine, RunSpec, Scenario};
use fencepost_faults::{FAMILIES, Families, Seed};
use std::rc::Rc;

fn seeds() -> u64 {
    std::env::var("FENCEPOST_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

#[test]
fn both_engines_tell_the_same_history_of_every_lock_under_every_fault() {
    let scenario = Rc::new(Scenario { cycles: 4, ..Scenario::default() });
    let mut plans = 0;
    for client in fencepost_clients::CLIENTS {
        for family in FAMILIES {
            let families: Families = family.name.parse().unwrap();
            for seed in (0..seeds()).map(Seed) {
                let spec = RunSpec::draw(seed, client, &families, scenario.clone());
                let fast = spec.run(Engine::Fast).unwrap();
                let turmoil = spec.run(Engine::Turmoil).unwrap();
                let differing = fast.history.events.iter().zip(&turmoil.history.events).find(|(a, b)| a != b);
                let run = format!("{} x {} seed {seed}", client.name, family.name);
                assert_eq!(differing, None, "{run}: the first event that differs");
                assert_eq!(fast, turmoil, "{run}");
                assert!(!fast.history.events.is_empty(), "{run}: something happened");
                plans += 1;
            }
        }
    }
    println!("{plans} plans, the same history in both engines");
}
