use crate::hosts::coordinators::{Entry, ServerSetup, entry};
use crate::hosts::programs::desk::HolderDesk;
use crate::hosts::programs::host::{Shared, live};
use crate::hosts::programs::record::ProgramLives;
use crate::hosts::real::{self, RealSetup, RealWorld};
use crate::hosts::storage::Storage;
use crate::hosts::workload::{Guard, Process, probe, work};
use crate::setup::places::{RESOURCE, addresses};
use crate::setup::roster::Roster;
use crate::setup::scenario::{Factory, OwnServer, Scenario, Wrap};
use crate::world::host::Software;
use crate::world::recorder::Recorder;
use crate::world::server::Server;
use bytes::Bytes;
use fencepost_clients::{Definition, Env, Lock, ServerLock, Servers};
use fencepost_faults::setting::Topology;
use fencepost_faults::{Micros, Node, Seed, SimTime};
use std::rc::Rc;

pub(crate) struct Deployment {
    pub(crate) seed: Seed,
    pub(crate) client: &'static Definition,
    pub(crate) scenario: Rc<Scenario>,
    pub(crate) topology: Topology,
    pub(crate) healed_at: SimTime,
    pub(crate) warm_up: Micros,
    pub(crate) progress_bound: Micros,
    pub(crate) recorder: Rc<Recorder>,
    pub(crate) roster: Rc<Roster>,
    pub(crate) desk: Rc<HolderDesk>,
    pub(crate) lives: Rc<ProgramLives>,
    pub(crate) server_lives: Rc<ProgramLives>,
    pub(crate) mutate: Option<Wrap>,
}

fn processes(scenario: &Scenario) -> impl Iterator<Item = Node> {
    (1..=scenario.processes).map(Node::Client).chain([Node::Probe])
}

fn threads(scenario: &Scenario, process: Node) -> impl Iterator<Item = Node> {
    let count = if process == Node::Probe { 1 } else { scenario.threads };
    (1..=count).map(move |thread| process.for_thread(thread))
}

pub(crate) fn members(scenario: &Scenario) -> Vec<Node> {
    processes(scenario).flat_map(|process| threads(scenario, process)).collect()
}

impl Deployment {
    pub(crate) fn hosts(self) -> Vec<(Node, Software)> {
        let this = Rc::new(self);
        let shared = this.shared();
        let setting = this.scenario.setting(this.topology);
        let servers = setting.servers().into_iter().chain(setting.sentinels());
        let has_real = !this.scenario.binaries.is_empty() || !this.own_servers().is_empty();
        let real = has_real.then(|| {
            let addresses = addresses(&this.nodes());
            RealWorld::new(addresses, this.own_servers(), this.server_lives.clone())
        });
        let servers = servers.map(|node| (node, this.machine(node, real.as_ref())));
        let processes = processes(&this.scenario)
            .map(|node| (node, Deployment::any_process(&this, node, &shared)));
        servers.chain([(Node::Storage, this.storage())]).chain(processes).collect()
    }

    fn own_servers(&self) -> &[OwnServer] {
        self.scenario.program(self.client).map_or(&[], |program| &program.servers)
    }

    fn nodes(&self) -> Vec<Node> {
        let setting = self.scenario.setting(self.topology);
        let servers = setting.servers().into_iter().chain(setting.sentinels());
        servers.chain([Node::Storage]).chain(processes(&self.scenario)).collect()
    }

    fn shared(&self) -> Option<Rc<Shared>> {
        let program = self.scenario.program(self.client)?.clone();
        let nodes = self.nodes();
        Some(Rc::new(Shared {
            program,
            scenario: self.scenario.clone(),
            recorder: self.recorder.clone(),
            roster: self.roster.clone(),
            desk: self.desk.clone(),
            lives: self.lives.clone(),
            progress_bound: self.progress_bound,
            nodes,
            seed: self.seed.0,
        }))
    }

    fn any_process(this: &Rc<Deployment>, node: Node, shared: &Option<Rc<Shared>>) -> Software {
        let Some(shared) = shared else { return Deployment::process(this, node) };
        let (this, shared) = (this.clone(), shared.clone());
        let starts_at = (node == Node::Probe).then_some(this.healed_at);
        if node == Node::Probe {
            this.roster.member(node).cycles_left.set(1);
        }
        Software::Program(Rc::new(move |env: Env| {
            Box::pin(live(env, node, this.servers(node), shared.clone(), starts_at))
        }))
    }

    fn machine(&self, node: Node, real: Option<&RealWorld>) -> Software {
        let setup = self.setup();
        let factory = real.and_then(|world| self.real_machine(world, node));
        let factory = factory.unwrap_or_else(|| (self.coordinator().machine)(&setup, node));
        self.server(node, factory)
    }

    fn real_machine(&self, world: &RealWorld, node: Node) -> Option<Factory> {
        let coordinator = self.coordinator().coordinator;
        let (kind, binary) = match self.own_servers() {
            [] => (real::kind(coordinator)?, self.scenario.binaries.get(coordinator.name())?),
            _ => (&real::own::KIND, &real::own::NO_BINARY),
        };
        let setup = RealSetup {
            world,
            kind,
            binary,
            own: self.own_servers(),
            scenario: &self.scenario,
            topology: self.topology,
            warm_up: self.warm_up,
            seed: self.seed,
            tap_prefix: Some(self.tap_prefix()),
            lock: self.lock(),
        };
        Some(real::machine(&setup, node))
    }

    fn coordinator(&self) -> &'static Entry {
        entry(self.client.deployment.coordinator())
    }

    fn setup(&self) -> ServerSetup<'_> {
        ServerSetup {
            seed: self.seed,
            scenario: &self.scenario,
            topology: self.topology,
            tap_prefix: Some(self.tap_prefix()),
            lock: self.lock(),
            server_lock: match self.client.deployment {
                fencepost_clients::Deployment::Etcd(server_lock) => server_lock,
                _ => ServerLock::Unchecked,
            },
        }
    }

    fn tap_prefix(&self) -> Bytes {
        match self.scenario.program(self.client) {
            Some(_) => Bytes::new(),
            None => Bytes::from_static(RESOURCE.as_bytes()),
        }
    }

    fn lock(&self) -> &str {
        self.scenario.program(self.client).map_or(RESOURCE, |program| &program.lock_key)
    }

    fn storage(&self) -> Software {
        let initial = self.scenario.workload.initial();
        let (rule, recorder) = (self.scenario.storage, self.recorder.clone());
        let desk = self.scenario.program(self.client).map(|_| self.desk.clone());
        let factory: Factory = Box::new(move |_, _| {
            Box::new(Storage::new(rule, initial, recorder.clone()).for_programs(desk.clone()))
        });
        self.server(Node::Storage, factory)
    }

    fn server(&self, node: Node, factory: Factory) -> Software {
        let factory = match &self.mutate {
            Some(mutate) => mutate(node, factory),
            None => factory,
        };
        let (service_time, sync_time) =
            (self.scenario.timing.service_time.0, self.scenario.timing.sync_time.0);
        let mut server = Server::new(service_time, sync_time, factory);
        server.torn = self.scenario.torn_writes(self.seed, node);
        Software::Machine(Box::new(server))
    }

    fn process(this: &Rc<Deployment>, node: Node) -> Software {
        let this = this.clone();
        Software::Program(Rc::new(move |env: Env| {
            let mut settings = this.scenario.settings();
            if node == Node::Probe {
                settings.acquire_timeout = this.progress_bound.into();
            }
            let servers = this.servers(node);
            let lock = this.scenario.build(this.client, env.clone(), &servers, &settings);
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

    fn start_thread(&self, node: Node, env: &Env, lock: &dyn Lock) {
        let Node::Thread { thread, .. } = node else { panic!("{node} is no further thread") };
        let env = env.for_thread(thread);
        let lock = lock
            .for_thread(env.clone())
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
            is_work: false,
            is_nested: false,
        }
    }

    fn servers(&self, process: Node) -> Servers {
        (self.coordinator().servers)(&self.setup(), process)
    }
}
