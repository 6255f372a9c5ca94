//! Both engines must produce the same history for every lock under every family of faults. The
//! nightly CI runs one seed of each case. `FENCEPOST_FIRST_SEED` and `FENCEPOST_SEEDS` select
//! other seeds:
//!
//! ```text
//! FENCEPOST_SEEDS=15 cargo test --release -p fencepost --test simulation engines -- \
//!     --nocapture --include-ignored
//! ```

use crate::drawn::{drawn, drawn_of};
use fencepost::run::fit::knows_threads;
use fencepost::{Engine, Scenario};
use fencepost_clients::{CLIENTS, Definition};
use fencepost_faults::FAMILIES;
use fencepost_testing::differential::number;
use rayon::prelude::*;
use std::rc::Rc;

fn seeds() -> impl Iterator<Item = u64> {
    let first = number("FENCEPOST_FIRST_SEED").unwrap_or(0);
    first..first + number("FENCEPOST_SEEDS").unwrap_or(1)
}

#[test]
#[ignore = "long: ci/nightly.sh runs it"]
fn both_engines_tell_the_same_history_of_every_lock_under_every_fault() {
    let families: Vec<&str> = FAMILIES.iter().map(|family| family.name()).collect();
    let scenario = || Scenario { cycles: 4, ..Scenario::default() };
    let plans: usize =
        CLIENTS.par_iter().map(|client| plans_compared(client, &families, scenario())).sum();
    assert!(plans >= CLIENTS.len() * FAMILIES.len(), "{plans} plans");
    println!("{plans} plans, the same history in both engines");
}

#[test]
fn both_engines_tell_the_same_history_of_processes_with_threads() {
    let families = ["pause", "client-crash", "partition", "restart"];
    let scenario = || Scenario { cycles: 4, threads: 2, ..Scenario::default() };
    let clients: Vec<&'static Definition> =
        CLIENTS.iter().filter(|client| knows_threads(client)).collect();
    let plans: usize =
        clients.into_par_iter().map(|client| plans_compared(client, &families, scenario())).sum();
    assert!(plans >= 6 * families.len(), "{plans} plans");
}

#[test]
fn both_engines_keep_the_order_of_what_is_sent_again() {
    for name in ["setnx-getset-checked", "redisson-wait"] {
        let spec = drawn(name, "all", 45, Scenario::default());
        let [fast, turmoil] = [Engine::Fast, Engine::Turmoil].map(|engine| spec.run(engine));
        assert_eq!(fast.map(|run| run.history), turmoil.map(|run| run.history), "{name}");
    }
}

fn plans_compared(client: &'static Definition, families: &[&str], scenario: Scenario) -> usize {
    let scenario = Rc::new(scenario);
    let mut plans = 0;
    for name in families {
        for seed in seeds() {
            let spec = drawn_of(client, name, seed, scenario.clone());
            let fast = spec.run(Engine::Fast).expect("the run comes to its end");
            let turmoil = spec.run(Engine::Turmoil).expect("the run comes to its end");
            let differing =
                fast.history.events.iter().zip(&turmoil.history.events).find(|(a, b)| a != b);
            let run = format!("{} x {name} seed {seed}", client.name);
            assert_eq!(differing, None, "{run}: the first event that differs");
            assert_eq!(fast, turmoil, "{run}");
            assert!(!fast.history.events.is_empty(), "{run}: something happened");
            plans += 1;
        }
    }
    plans
}
