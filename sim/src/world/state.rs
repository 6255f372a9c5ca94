use super::agenda::{Agenda, HostIndex, NEMESIS, Occurrence};
use super::carrier::Carrier;
use super::failing_syncs::FailingSyncs;
use super::host::{Host, Software};
use super::network::{Network, Pace};
use super::server::{Arrival, Server};
use super::socket::{Message, Socket};
use super::tasks::Tasks;
use super::timers::{Listener, Timers};
use super::wire_log::WireLog;
use crate::setup::places::address;
use crate::world::recorder::Recorder;
use fencepost_faults::{Micros, Node, Seed, SimTime};
use fencepost_machine::{Input, Now};
use slab::Slab;
use std::collections::BTreeMap;
use std::rc::Rc;

pub(crate) type Due = (SimTime, HostIndex);

pub(crate) struct State {
    pub(crate) now: SimTime,
    /// Time of the world at which the run begins and its programs start. Servers start at 0.
    pub(crate) begins_at: SimTime,
    pub(crate) quantum: Micros,
    pub(crate) seed: Seed,
    pub(crate) agenda: Agenda,
    pub(crate) hosts: Vec<Host>,
    pub(crate) addresses: BTreeMap<String, HostIndex>,
    pub(crate) sockets: Vec<Socket>,
    pub(crate) messages: Slab<Message>,
    pub(crate) timers: Timers,
    pub(crate) tasks: Tasks,
    pub(crate) network: Network,
    pub(crate) carrier: Box<dyn Carrier>,
    pub(crate) recorder: Rc<Recorder>,
    pub(crate) wire: Option<Box<WireLog>>,
    pub(crate) turns: Option<Vec<Due>>,
    pub(crate) held_up: Option<Vec<(SimTime, [HostIndex; 2])>>,
    /// `false` until a trap is set, so that commands can skip the check for traps.
    pub(crate) has_had_traps: bool,
    /// `None` until syncs begin to fail.
    pub(crate) failing_syncs: Option<FailingSyncs>,
    pub(crate) messages_sent: u64,
    pub(crate) events: u64,
    pub(crate) commands: u64,
}

pub(crate) struct Parts {
    pub(crate) seed: Seed,
    pub(crate) begins_at: SimTime,
    pub(crate) quantum: Micros,
    pub(crate) latency: (Micros, Micros),
    pub(crate) pace: Pace,
    pub(crate) hosts: Vec<(Node, Software)>,
    pub(crate) carrier: Box<dyn Carrier>,
    pub(crate) recorder: Rc<Recorder>,
}

impl State {
    pub(crate) fn new(parts: Parts) -> State {
        let nodes: Vec<Node> = parts.hosts.iter().map(|(node, _)| *node).collect();
        let mut addresses: BTreeMap<String, HostIndex> =
            nodes.iter().zip(1..).map(|(node, index)| (node.to_string(), index)).collect();
        let numbers = (0..nodes.len()).zip(1..);
        addresses.extend(numbers.map(|(place, index)| (address(place).to_string(), index)));
        let network =
            Network::new(parts.seed, nodes.clone(), parts.quantum, parts.latency).paced(parts.pace);
        let hosts = parts.hosts.into_iter();
        let hosts = hosts.map(|(node, software)| Host::new(node, software, parts.begins_at));
        let hosts = hosts.collect();
        State {
            now: SimTime::ZERO,
            begins_at: parts.begins_at,
            quantum: parts.quantum,
            seed: parts.seed,
            agenda: Agenda::default(),
            hosts,
            addresses,
            sockets: Vec::new(),
            messages: Slab::new(),
            timers: Timers::default(),
            tasks: Tasks::new(nodes.len() + 1),
            network,
            carrier: parts.carrier,
            recorder: parts.recorder,
            wire: None,
            turns: None,
            held_up: None,
            has_had_traps: false,
            failing_syncs: None,
            messages_sent: 0,
            events: 0,
            commands: 0,
        }
    }

    /// Returns the time since the run began; 0 before the run begins.
    pub(crate) fn run_time(&self) -> SimTime {
        SimTime::ZERO + self.now.since(self.begins_at)
    }

    pub(crate) fn take_turns(&mut self) -> Vec<(SimTime, Node)> {
        let turns = self.turns.take().unwrap_or_default();
        turns.into_iter().map(|(at, host)| (at, self.node(host))).collect()
    }

    pub(crate) fn take_held_up(&mut self) -> Vec<(SimTime, (Node, Node))> {
        let held_up = self.held_up.take().unwrap_or_default();
        let way = |[from, to]: [HostIndex; 2]| (self.node(from), self.node(to));
        held_up.into_iter().map(|(at, hosts)| (at, way(hosts))).collect()
    }

    pub(crate) fn host(&mut self, host: HostIndex) -> &mut Host {
        &mut self.hosts[usize::from(host) - 1]
    }

    pub(crate) fn find(&self, node: Node) -> Option<HostIndex> {
        self.hosts.iter().zip(1..).find_map(|(host, index)| (host.node == node).then_some(index))
    }

    pub(crate) fn node(&self, host: HostIndex) -> Node {
        self.hosts[usize::from(host) - 1].node
    }

    pub(crate) fn server(&mut self, host: HostIndex) -> Option<&mut Server> {
        match &mut self.host(host).software {
            Software::Machine(server) => Some(server),
            Software::Program(_) => None,
        }
    }

    pub(crate) fn clocks(&self, host: HostIndex) -> Now {
        self.hosts[usize::from(host) - 1].clock.both(self.now)
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Option<Due> {
        loop {
            let (place, occurrence) = self.agenda.next()?;
            match occurrence {
                Occurrence::Timer(index) if !self.timers.is_current(index, place) => {
                    self.skip_timer(index, place)
                }
                _ => return Some((place.time(), place.host())),
            }
        }
    }

    pub(crate) fn take_due(&mut self, host: HostIndex) -> Option<Occurrence> {
        loop {
            let (place, occurrence) = self.agenda.next()?;
            if place.host() != host || place.time() > self.now {
                return None;
            }
            match occurrence {
                Occurrence::Timer(index) if !self.timers.is_current(index, place) => {
                    self.skip_timer(index, place)
                }
                _ => {
                    self.events += 1;
                    return self.agenda.take();
                }
            }
        }
    }

    pub(crate) fn is_due(&mut self, host: HostIndex) -> bool {
        self.next().is_some_and(|(at, whose)| at <= self.now && whose == host)
    }

    /// Executes an event at its host. The kernel itself executes boots and crashes, because they
    /// run the tasks' code.
    #[inline(always)]
    pub(crate) fn apply(&mut self, host: HostIndex, occurrence: Occurrence) {
        debug_assert_ne!(host, NEMESIS, "the nemesis is not a host");
        match occurrence {
            Occurrence::Deliver(message) => self.deliver(message),
            Occurrence::Timer(index) => match self.timers.fire(index) {
                Some(Listener::Task(waker)) => self.tasks.wake(waker),
                Some(Listener::Socket(socket)) => self.time_out(socket),
                None => {}
            },
            other => self.apply_rarer(host, other),
        }
    }

    #[inline(never)]
    fn apply_rarer(&mut self, host: HostIndex, occurrence: Occurrence) {
        match occurrence {
            Occurrence::MachineTimer(generation) => self.machine_timer_due(host, generation),
            Occurrence::ServiceDone => {
                if let Some(server) = self.server(host) {
                    server.wakes_when_done = false;
                }
            }
            Occurrence::DiskSynced(life) => {
                if let Some(server) = self.server(host)
                    && server.life == life
                    && server.machine.is_some()
                {
                    let arrival = match server.disk.finish_sync() {
                        Input::DiskFailed { error, .. } => Arrival::DiskFailed(error),
                        _ => Arrival::DiskSynced,
                    };
                    server.inbox.push_back(arrival);
                }
            }
            Occurrence::Retry(socket) => self.retry(socket),
            Occurrence::Timer(_)
            | Occurrence::Deliver(_)
            | Occurrence::Resume
            | Occurrence::Boot
            | Occurrence::Crash
            | Occurrence::FaultBegins(_)
            | Occurrence::FaultEnds(_)
            | Occurrence::SyncsFail
            | Occurrence::SyncsSucceed
            | Occurrence::Healed => {}
        }
    }
}
