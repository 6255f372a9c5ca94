//! A workload for benchmarks, in which three processes acquire a lock on one Redis server.

pub mod bare;

use crate::engine::{Engine, Setup};
use crate::setup::roster::Roster;
use crate::world::host::Software;
use crate::world::server::Server;
use crate::world::tasks::TaskFuture;
use fake_redis::NodeConfig;
use fencepost_clients::{Acquisition, Address, Env, Lock, Servers, Settings, find};
use fencepost_faults::{Micros, Node, Seed, SimTime};
use fencepost_machine::wording::Wording;
use fencepost_machine::{ConnectionId, DiskImage, Input, Machine, Now, Outputs, WallTime};
use std::cell::RefCell;
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
        self.run_with(seed, engine, |image, now| Box::new(machine(image, now.wall)), process)
    }

    pub fn run_bare(&self, seed: u64, engine: Engine) -> Figures {
        let process = async |env: Env, cycles| {
            bare::process(env, cycles).await.expect("nothing fails in workload W")
        };
        self.run_with(seed, engine, |_, _| Box::new(bare::Server::default()), process)
    }

    pub fn record(&self, seed: u64) -> Vec<Recorded> {
        let told = Rc::new(RefCell::new(Vec::new()));
        let log = told.clone();
        let recording = move |image, now: Now| Recording {
            machine: Box::new(machine(image, now.wall)),
            told: log.clone(),
        };
        self.run_with(
            seed,
            Engine::Fast,
            move |image, now| Box::new(recording(image, now)),
            process,
        );
        told.take()
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
                roster.finishes(client);
            })
        }))
    }
}

pub fn machine(image: DiskImage, wall: WallTime) -> fake_redis::Node {
    fake_redis::Node::new(config(), image, 7, wall)
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recorded {
    at: Now,
    what: RecordedInput,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum RecordedInput {
    Timer,
    Accepted(ConnectionId, String),
    Received(ConnectionId, Vec<u8>),
    Closed(ConnectionId),
    Continue,
}

/// Executes the recorded commands without a world, and returns their number.
pub fn replay(told: &[Recorded]) -> u64 {
    let mut node =
        machine(DiskImage::default(), told.first().map_or(WallTime(0), |first| first.at.wall));
    let (mut out, mut commands) = (Outputs::default(), 0);
    for Recorded { at, what } in told {
        let input = match what {
            RecordedInput::Timer => Input::Timer,
            RecordedInput::Accepted(connection, peer) => {
                Input::Accepted { connection: *connection, peer }
            }
            RecordedInput::Received(connection, bytes) => {
                Input::Received { connection: *connection, bytes }
            }
            RecordedInput::Closed(connection) => Input::Closed { connection: *connection },
            RecordedInput::Continue => Input::Continue,
        };
        out.clear();
        node.handle(input, *at, &mut out);
        commands += u64::from(out.commands);
    }
    commands
}

struct Recording {
    machine: Box<dyn Machine>,
    told: Rc<RefCell<Vec<Recorded>>>,
}

impl Machine for Recording {
    fn handle(&mut self, input: Input<'_>, now: Now, out: &mut Outputs) {
        let what = match input {
            Input::Timer => RecordedInput::Timer,
            Input::Accepted { connection, peer } => {
                RecordedInput::Accepted(connection, peer.to_owned())
            }
            Input::Received { connection, bytes } => {
                RecordedInput::Received(connection, bytes.to_vec())
            }
            Input::Closed { connection } => RecordedInput::Closed(connection),
            Input::Continue => RecordedInput::Continue,
            other => panic!("nothing of workload W tells a server {other:?}"),
        };
        self.told.borrow_mut().push(Recorded { at: now, what });
        self.machine.handle(input, now, out);
    }

    fn wording(&self) -> Wording {
        self.machine.wording()
    }
}
