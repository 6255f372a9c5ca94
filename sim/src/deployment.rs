//! Sets a world up: which hosts there are and what each runs. Must never know what happens
//! afterwards.

use crate::programs::desk::Desk;
use crate::programs::host::{Shared, live};
use crate::programs::record::Lives;
use crate::recorder::Recorder;
use crate::roster::Roster;
use crate::scenario::{MastersOrder, Persistence, Scenario};
use crate::storage::Storage;
use crate::workload::{Guard, Process, initial, probe, work};
use crate::world::host::Software;
use crate::world::server::Server;
use bytes::Bytes;
use fake_redis::config::{Fsync, NodeConfig, Persistence as ServerPersistence};
use fake_redis::sentinel::Address as SentinelAddress;
use fake_redis::{Sentinel, SentinelConfig};
use fencepost_clients::{Address, Definition, Env, Lock, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Micros, Node, Seed, SimTime, Stream};
use rand_core::Rng;
use std::rc::Rc;

/// The port of every Redis server.
const REDIS_PORT: u16 = 6379;
/// The port of every Sentinel.
const SENTINEL_PORT: u16 = 26379;
/// The name under which Sentinels watch the primary.
const MASTER_NAME: &str = "mymaster";
/// What is locked, and the key of the lock.
pub(crate) const RESOURCE: &str = "lock:orders";

/// What a world is set up from.
pub(crate) struct Deployment {
    pub(crate) seed: Seed,
    pub(crate) client: &'static Definition,
    pub(crate) scenario: Rc<Scenario>,
    pub(crate) topology: Topology,
    pub(crate) healed_at: SimTime,
    pub(crate) progress_bound: Micros,
    pub(crate) recorder: Rc<Recorder>,
    pub(crate) roster: Rc<Roster>,
    /// Between judge and storage, where the lock is a program.
    pub(crate) desk: Rc<Desk>,
    /// What programs leave behind.
    pub(crate) lives: Rc<Lives>,
}

/// Every process of a run.
fn processes(scenario: &Scenario) -> impl Iterator<Item = Node> {
    (1..=scenario.processes).map(Node::Client).chain([Node::Probe])
}

/// The threads of a process. The probe has one.
fn threads(scenario: &Scenario, process: Node) -> impl Iterator<Item = Node> {
    let count = if process == Node::Probe { 1 } else { scenario.threads };
    (1..=count).map(move |thread| process.of_thread(thread))
}

/// Everybody on the roster of a run.
pub(crate) fn members(scenario: &Scenario) -> Vec<Node> {
    processes(scenario).flat_map(|process| threads(scenario, process)).collect()
}

impl Deployment {
    /// Every host with what it runs, in the order in which hosts take their turns.
    pub(crate) fn hosts(self) -> Vec<(Node, Software)> {
        let this = Rc::new(self);
        let shared = this.shared();
        let setting = this.scenario.setting(this.topology);
        let redis = setting.redis().into_iter().map(|node| (node, this.redis(node)));
        let sentinels = setting.sentinels().into_iter().map(|node| (node, this.sentinel(node)));
        let processes = processes(&this.scenario)
            .map(|node| (node, Deployment::any_process(&this, node, &shared)));
        redis.chain(sentinels).chain([(Node::Storage, this.storage())]).chain(processes).collect()
    }

    /// What programs share, if the lock is one.
    fn shared(&self) -> Option<Rc<Shared>> {
        let program = self.scenario.program(self.client)?.clone();
        let setting = self.scenario.setting(self.topology);
        let servers = setting.redis().into_iter().chain(setting.sentinels());
        let nodes = servers.chain([Node::Storage]).chain(processes(&self.scenario)).collect();
        Some(Rc::new(Shared {
            program,
            scenario: self.scenario.clone(),
            recorder: self.recorder.clone(),
            roster: self.roster.clone(),
            desk: self.desk.clone(),
            lives: self.lives.clone(),
            nodes,
            seed: self.seed.0,
        }))
    }

    fn any_process(this: &Rc<Deployment>, node: Node, shared: &Option<Rc<Shared>>) -> Software {
        let Some(shared) = shared else { return Deployment::process(this, node) };
        let (this, shared) = (this.clone(), shared.clone());
        // The probe is the same program, and starts when all faults are over.
        let starts_at = (node == Node::Probe).then_some(this.healed_at);
        if node == Node::Probe {
            this.roster.member(node).cycles_left.set(1);
        }
        Software::Program(Rc::new(move |env: Env| {
            Box::pin(live(env, node, this.servers(node), shared.clone(), starts_at))
        }))
    }

    fn redis(&self, node: Node) -> Software {
        let scenario = &self.scenario;
        let replica_of = match (self.topology, node) {
            (Topology::Replicated { .. }, Node::Redis(number)) if number > 1 => {
                Some((Node::Redis(1).to_string(), REDIS_PORT))
            }
            _ => None,
        };
        let config = NodeConfig {
            host: node.to_string(),
            port: REDIS_PORT,
            replica_of,
            has_config_file: true,
            persistence: persistence(scenario.persistence),
            min_replicas_to_write: u32::from(scenario.min_replicas),
            active_expire: false,
            tap_prefix: Some(self.tap_prefix()),
            ..NodeConfig::default()
        };
        let mut ids = self.seed.stream(Stream::Server(node));
        self.server(Box::new(move |image, now| {
            Box::new(fake_redis::Node::new(config.clone(), image, ids.next_u64(), now.wall))
        }))
    }

    /// What keys the servers tell of.
    fn tap_prefix(&self) -> Bytes {
        match self.scenario.program(self.client) {
            Some(program) => Bytes::from(program.lock_key.clone()),
            None => Bytes::from_static(RESOURCE.as_bytes()),
        }
    }

    fn sentinel(&self, node: Node) -> Software {
        let address = |node: Node, port| SentinelAddress { host: node.to_string(), port };
        // A deployment that has been running for a while: its Sentinels have long found the
        // replicas and written them down.
        let replicas = (2..=self.scenario.replicas + 1).map(Node::Redis);
        let config = SentinelConfig {
            master_name: MASTER_NAME.to_owned(),
            quorum: usize::from(self.scenario.sentinels / 2 + 1),
            down_after_ms: self.scenario.down_after.0.as_millis() as i64,
            failover_timeout_ms: self.scenario.failover_timeout.0.as_millis() as i64,
            known_replicas: replicas.map(|node| address(node, REDIS_PORT)).collect(),
            ..SentinelConfig::new(address(node, SENTINEL_PORT), address(Node::Redis(1), REDIS_PORT))
        };
        let mut ids = self.seed.stream(Stream::Server(node));
        self.server(Box::new(move |_, now| {
            Box::new(Sentinel::new(config.clone(), ids.next_u64(), now.wall))
        }))
    }

    fn storage(&self) -> Software {
        let (rule, initial, recorder) =
            (self.scenario.storage, initial(self.scenario.workload), self.recorder.clone());
        let desk = self.scenario.program(self.client).map(|_| self.desk.clone());
        self.server(Box::new(move |_, _| {
            Box::new(Storage::new(rule, initial, recorder.clone()).for_programs(desk.clone()))
        }))
    }

    fn server(&self, factory: crate::world::server::Factory) -> Software {
        let (service_time, sync_time) = (self.scenario.service_time.0, self.scenario.sync_time.0);
        Software::Machine(Box::new(Server::new(service_time, sync_time, factory)))
    }

    fn process(this: &Rc<Deployment>, node: Node) -> Software {
        let this = this.clone();
        Software::Program(Rc::new(move |env: Env| {
            let mut settings = this.scenario.settings();
            if node == Node::Probe {
                settings.acquire_timeout = this.progress_bound.into();
            }
            let lock = (this.client.build)(env.clone(), &this.servers(node), &settings);
            for thread in threads(&this.scenario, node).skip(1) {
                this.start_thread(thread, &env, &*lock);
            }
            let process = this.thread(node, env, lock);
            match node {
                Node::Probe => Box::pin(probe(process, this.healed_at)),
                _ => Box::pin(work(process)),
            }
        }))
    }

    /// Starts a further thread of the process that `env` and `lock` are of. Panics if the lock
    /// knows no threads: the run was set up wrong.
    fn start_thread(&self, node: Node, env: &Env, lock: &dyn Lock) {
        let Node::Thread { thread, .. } = node else { panic!("{node} is no further thread") };
        let env = env.of_thread(thread);
        let lock = lock
            .of_thread(env.clone())
            .unwrap_or_else(|| panic!("{} has no threads", self.client.name));
        env.spawn(work(self.thread(node, env.clone(), lock)));
    }

    fn thread(&self, node: Node, env: Env, lock: Box<dyn Lock>) -> Process {
        Process {
            node,
            lock,
            guard: Guard::new(env.clone()),
            env,
            resource: RESOURCE.into(),
            scenario: self.scenario.clone(),
            recorder: self.recorder.clone(),
            roster: self.roster.clone(),
        }
    }

    /// Where the servers are, as the lock of a process sees them.
    fn servers(&self, process: Node) -> Servers {
        let address = |node: Node, port| Address { host: node.to_string(), port };
        match self.topology {
            Topology::Standalone => Servers::One(address(Node::Redis(1), REDIS_PORT)),
            Topology::Replicated { sentinels, .. } => Servers::Sentinels {
                name: MASTER_NAME.to_owned(),
                sentinels: (1..=sentinels)
                    .map(|n| address(Node::Sentinel(n), SENTINEL_PORT))
                    .collect(),
            },
            Topology::Independent { masters, .. } => {
                let mut known: Vec<_> =
                    (1..=masters).map(|n| address(Node::Redis(n), REDIS_PORT)).collect();
                known.rotate_left(self.first_master(process));
                Servers::Independent(known)
            }
        }
    }
}

impl Deployment {
    /// With which master a process begins; the probe is the process after the last.
    fn first_master(&self, process: Node) -> usize {
        let place = match process {
            Node::Client(number) => number - 1,
            _ => self.scenario.processes,
        };
        match self.scenario.masters_order {
            MastersOrder::Same => 0,
            MastersOrder::Rotated => usize::from(place % self.scenario.masters),
        }
    }
}

/// As the server names it.
pub(crate) fn persistence(persistence: Persistence) -> ServerPersistence {
    match persistence {
        Persistence::None => ServerPersistence::None,
        Persistence::Rdb => ServerPersistence::Rdb,
        Persistence::AofEverysec => ServerPersistence::Aof { fsync: Fsync::EverySec },
        Persistence::AofAlways => ServerPersistence::Aof { fsync: Fsync::Always },
    }
}
