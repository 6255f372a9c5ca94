//! Workload W, for benchmarks only: one Redis, three processes that acquire, hold and release twenty times, and idle hosts besides. No storage,
//! no judge: what an engine costs, and nothing else. Must never be part of a run.

use crate::engine::{Course, Engine};
use crate::nemesis::Nemesis;
use crate::recorder::Recorder;
use crate::roster::Roster;
use crate::world::host::Software;
use crate::world::kernel::Kernel;
use crate::world::server::Server;
use crate::world::state::Parts;
use crate::world::tasks::TaskFuture;
use fake_redis::NodeConfig;
use fencepost_clients::{Acquisition, Address, Env, Lock, Servers, Settings, find};
use fencepost_faults::{FaultPlan, Micros, Node, Seed, SimTime};
use std::future::Future;
use std::rc::Rc;
use std::time::Duration;

/// How many processes take the lock.
pub const PROCESSES: u16 = 3;
/// How often each.
pub const CYCLES: u32 = 20;

/// What a run of workload W did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figures {
    /// How long it took in virtual time.
    pub virtual_time: SimTime,
    /// How many messages were sent.
    pub messages: u64,
    /// How many events the world handled.
    pub events: u64,
}

/// The numbers that the processes choose.
pub fn settings() -> Settings {
    let ms = Duration::from_millis;
    Settings {
        ttl: ms(10_000),
        retry: ms(10)..=ms(100),
        acquire_timeout: ms(600_000),
        command_timeout: ms(500),
        node_timeout: ms(50),
    }
}

/// Makes the lock of one process.
pub fn lock(env: &Env) -> Box<dyn Lock> {
    let definition = find("single-node").expect("single-node is in the table");
    (definition.build)(env.clone(), &Servers::One(Address { host: "redis-1".to_owned(), port: 6379 }), &settings())
}

/// What one process does: the body of workload W, for any world.
pub fn process(env: Env) -> impl Future<Output = ()> {
    async move {
        let mut lock = lock(&env);
        for _ in 0..CYCLES {
            if let Acquisition::Granted(lease) = lock.acquire("lock").await {
                env.sleep(env.jitter(&(Duration::from_millis(50)..=Duration::from_millis(200)))).await;
                lock.release(lease).await;
            }
        }
    }
}

/// How the server is set up.
pub fn config() -> NodeConfig {
    NodeConfig { host: "redis-1".to_owned(), active_expire: false, ..NodeConfig::default() }
}

/// Runs workload W on one of our engines, with `idle` hosts besides.
pub fn run(seed: u64, engine: Engine, quantum: Duration, idle: u16) -> Figures {
    let seed = Seed(seed);
    let recorder = Rc::new(Recorder::default());
    let clients: Vec<Node> = (1..=PROCESSES).map(Node::Client).collect();
    let roster = Rc::new(Roster::new(seed, &clients, CYCLES));
    let server = Server::new(
        Micros(0),
        Micros(0),
        Box::new(|image, wall| Box::new(fake_redis::Node::new(config(), image, 7, wall))),
    );
    let mut hosts = vec![(Node::Redis(1), Software::Machine(Box::new(server)))];
    for client in &clients {
        let (client, roster) = (*client, roster.clone());
        let boot = move |env: Env| -> TaskFuture {
            let roster = roster.clone();
            Box::pin(async move {
                process(env).await;
                roster.finishes(client);
            })
        };
        hosts.push((client, Software::Program(Rc::new(boot))));
    }
    for number in 0..idle {
        let boot = |_: Env| -> TaskFuture { Box::pin(std::future::pending()) };
        hosts.push((Node::Client(PROCESSES + 1 + number), Software::Program(Rc::new(boot))));
    }
    let nodes: Vec<Node> = hosts.iter().map(|(node, _)| *node).collect();
    let (carrier, runner) = engine.prepare(&nodes);
    let latency = (Micros::from_millis(1), Micros::from_millis(5));
    let kernel = Kernel::new(Parts { seed, quantum: quantum.into(), latency, hosts, carrier, recorder });
    let nemesis = Nemesis::new(FaultPlan::default(), SimTime::ZERO, roster.clone(), &kernel);
    let course = Course { nemesis, roster, limit: SimTime(600_000_000) };
    runner.run(&kernel, &course).expect("workload W runs to its end");
    kernel.with(|state| Figures { virtual_time: state.now, messages: state.messages_sent, events: state.events })
}
