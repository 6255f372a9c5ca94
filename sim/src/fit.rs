//! Whether a scenario, a lock and faults go together. Must never run them.

use crate::engine::Engine;
use crate::recorder::Recorder;
use crate::scenario::Scenario;
use crate::world::host::Software;
use crate::world::kernel::Kernel;
use crate::world::state::Parts;
use fencepost_clients::{Address, CLIENTS, Definition, Deployment, Servers};
use fencepost_faults::setting::InvalidSetting;
use fencepost_faults::{Families, Node, Seed};
use std::rc::Rc;

/// Why no run can be made of a scenario, a lock and faults.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Unfit {
    /// No plan can be drawn.
    #[error(transparent)]
    Setting(#[from] InvalidSetting),
    /// The processes are to have threads, and the lock knows none.
    #[error(
        "threads '{threads}': expected 1 for {client}, which knows no threads of one process; \
         {others} do"
    )]
    Threads {
        /// How many are asked for.
        threads: u16,
        /// The lock.
        client: &'static str,
        /// The locks of the table that know threads.
        others: String,
    },
}

/// Checks that runs can be made. Errors name the value and what would be valid.
pub fn fits(scenario: &Scenario, client: &Definition, families: &Families) -> Result<(), Unfit> {
    scenario.setting(scenario.topology(client, families)).validate()?;
    if scenario.threads == 1 || knows_threads(client) {
        return Ok(());
    }
    let others: Vec<&str> =
        CLIENTS.iter().filter(|one| knows_threads(one)).map(|one| one.name).collect();
    Err(Unfit::Threads {
        threads: scenario.threads,
        client: client.name,
        others: others.join(", "),
    })
}

/// Whether a lock makes that of another thread of its process: one is built, and asked.
pub fn knows_threads(client: &Definition) -> bool {
    let (scenario, node) = (Scenario::default(), Node::Client(1));
    let kernel = Kernel::new(Parts {
        seed: Seed(0),
        quantum: scenario.quantum.0,
        latency: (scenario.latency.min.0, scenario.latency.max.0),
        hosts: vec![(node, Software::Program(Rc::new(|_| Box::pin(std::future::ready(())))))],
        carrier: Engine::Fast.prepare(&[node]).0,
        recorder: Rc::new(Recorder::default()),
    });
    let env = kernel.env(1);
    let lock = (client.build)(env.clone(), &servers(client.deployment), &scenario.settings());
    let knows = lock.of_thread(env.of_thread(2)).is_some();
    drop(lock);
    kernel.shut_down();
    knows
}

/// Servers that nobody talks to.
fn servers(deployment: Deployment) -> Servers {
    let address = |number| Address { host: Node::Redis(number).to_string(), port: 6379 };
    match deployment {
        Deployment::Primary => Servers::One(address(1)),
        Deployment::Independent => Servers::Independent((1..=5).map(address).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locks_that_know_threads_are_those_of_java_libraries() {
        let names: Vec<&str> =
            CLIENTS.iter().filter(|one| knows_threads(one)).map(|one| one.name).collect();
        let java = |name: &&str| name.starts_with("redisson") || *name == "spring-registry";
        assert_eq!(names, CLIENTS.iter().map(|one| one.name).filter(java).collect::<Vec<_>>());
        assert_eq!(names.len(), 6);
    }

    #[test]
    fn threads_are_refused_for_a_lock_that_knows_none() {
        let said = |threads, client: &str| {
            let scenario = Scenario { threads, ..Scenario::default() };
            let client = fencepost_clients::find(client).expect("the lock is in the table");
            fits(&scenario, client, &"none".parse().expect("a family"))
                .map_err(|unfit| unfit.to_string())
        };
        assert_eq!(said(1, "redlock"), Ok(()));
        assert_eq!(said(2, "spring-registry"), Ok(()));
        let refused = said(2, "redlock").unwrap_err();
        assert!(refused.starts_with("threads '2': expected 1 for redlock, "), "{refused}");
        assert!(refused.ends_with("redisson-redlock, spring-registry do"), "{refused}");
    }
}
