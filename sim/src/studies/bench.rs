//! The benchmark workload: by default, three processes compete for a lock on one Redis server.

pub mod bare;

use crate::engine::{Engine, Setup};
use crate::setup::roster::Roster;
use crate::world::host::Software;
use crate::world::server::Server;
use crate::world::tasks::TaskFuture;
use fake_redis::NodeConfig;
use fencepost_clients::{Acquisition, Address, Env, Lock, Servers, Settings, find};
use fencepost_faults::{Micros, Node, Seed, SimTime};
use fencepost_machine::{DiskImage, Machine, Now};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::Duration;

pub const PROCESSES: u16 = 3;
pub const CYCLES: u32 = 20;

const HOLD: RangeInclusive<Duration> = Duration::from_millis(50)..=Duration::from_millis(200);
const LIMIT: SimTime = SimTime(100_000_000_000);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Figures {
    pub virtual_time: SimTime,
    pub messages: u64,
    pub events: u64,
    pub commands: u64,
}

fn address() -> Address {
    Address { host: "redis-1".to_owned(), port: 6379 }
}

pub fn settings() -> Settings {
    let ms = Duration::from_millis;
    Settings {
        ttl: ms(10_000),
        retry: ms(10)..=ms(100),
        acquire_timeout: ms(600_000),
        command_timeout: ms(500),
        node_timeout: ms(50),
        wait: None,
        hears_switches: true,
        lock_delay: None,
    }
}

pub fn lock(env: &Env) -> Box<dyn Lock> {
    let definition = find("single-node").expect("single-node is in the table");
    (definition.build)(env.clone(), &Servers::One(address()), &settings())
}

pub async fn process(env: Env, cycles: u32) {
    let mut lock = lock(&env);
    for _ in 0..cycles {
        if let Acquisition::Granted(lease) = lock.acquire("lock").await {
            env.sleep(env.jitter(&HOLD)).await;
            lock.release(lease).await;
        }
    }
}

pub fn config() -> NodeConfig {
    NodeConfig { host: "redis-1".to_owned(), active_expire: false, ..NodeConfig::default() }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Workload {
    pub processes: u16,
    pub cycles: u32,
    pub idle: u16,
    pub quantum: Duration,
}

impl Default for Workload {
    fn default() -> Workload {
        Workload {
            processes: PROCESSES,
            cycles: CYCLES,
            idle: 0,
            quantum: Duration::from_millis(1),
        }
    }
}

impl Workload {
    pub fn run(&self, seed: u64, engine: Engine) -> Figures {
        let server = |image, now: Now| -> Box<dyn Machine> {
            Box::new(fake_redis::Node::new(config(), image, 7, now.wall))
        };
        self.run_with(seed, engine, server, process)
    }

    pub fn run_bare(&self, seed: u64, engine: Engine) -> Figures {
        let process = async |env: Env, cycles| {
            bare::process(env, cycles).await.expect("nothing fails in workload W")
        };
        self.run_with(seed, engine, |_, _| Box::new(bare::Server::default()), process)
    }

    fn run_with(
        &self,
        seed: u64,
        engine: Engine,
        make: impl Fn(DiskImage, Now) -> Box<dyn Machine> + 'static,
        process: impl AsyncFn(Env, u32) + Copy + 'static,
    ) -> Figures {
        let seed = Seed(seed);
        let clients: Vec<Node> = (1..=self.processes).map(Node::Client).collect();
        let roster = Rc::new(Roster::new(seed, &clients, self.cycles));
        let server = Server::new(Micros(0), Micros(0), Box::new(make));
        let mut hosts = vec![(Node::Redis(1), Software::Machine(Box::new(server)))];
        hosts.extend(
            clients.iter().map(|client| (*client, self.program(*client, &roster, process))),
        );
        hosts.extend((0..self.idle).map(|number| {
            let boot = |_: Env| -> TaskFuture { Box::pin(std::future::pending()) };
            (Node::Client(self.processes + 1 + number), Software::Program(Rc::new(boot)))
        }));
        let setup = Setup {
            quantum: self.quantum.into(),
            latency: (Micros::from_millis(1), Micros::from_millis(5)),
            limit: LIMIT,
            ..Setup::calm(seed, hosts, roster)
        };
        let kernel = setup.run(engine).expect("workload W runs to its end");
        kernel.with(|state| Figures {
            virtual_time: state.now,
            messages: state.messages_sent,
            events: state.events,
            commands: state.commands,
        })
    }

    fn program(
        &self,
        client: Node,
        roster: &Rc<Roster>,
        process: impl AsyncFn(Env, u32) + Copy + 'static,
    ) -> Software {
        let (roster, cycles) = (roster.clone(), self.cycles);
        Software::Program(Rc::new(move |env: Env| -> TaskFuture {
            let roster = roster.clone();
            Box::pin(async move {
                process(env, cycles).await;
                roster.finish(client);
            })
        }))
    }
}
