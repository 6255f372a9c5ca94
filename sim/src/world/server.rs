//! A server's machine, inbox and disk. Each command keeps the machine busy for the service time.

use super::agenda::HostIndex;
use crate::setup::scenario::Factory;
use fencepost_faults::{Micros, SimTime};
use fencepost_machine::wording::{self, Wording};
use fencepost_machine::{
    ConnectionId, Disk, Input, Machine, Now, OperatorAction, Output, Outputs, SyncError, SyncOf,
};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Arrival {
    Started,
    Accepted(ConnectionId, String),
    Readable(ConnectionId, u32),
    Closed(ConnectionId),
    Connected(ConnectionId),
    ConnectFailed(ConnectionId),
    Timer,
    Continue,
    DiskSynced,
    DiskFailed(SyncError),
    Operator(OperatorAction),
}

impl Arrival {
    pub(crate) fn as_input(&self) -> Input<'_> {
        match self {
            Arrival::Started | Arrival::Timer => Input::Timer,
            Arrival::Accepted(connection, peer) => {
                Input::Accepted { connection: *connection, peer }
            }
            Arrival::Readable(connection, _) => {
                Input::Received { connection: *connection, bytes: &[] }
            }
            Arrival::Closed(connection) => Input::Closed { connection: *connection },
            Arrival::Connected(connection) => Input::Connected { connection: *connection },
            Arrival::ConnectFailed(connection) => Input::ConnectFailed { connection: *connection },
            Arrival::Continue => Input::Continue,
            Arrival::DiskSynced => Input::DiskSynced,
            Arrival::DiskFailed(error) => Input::DiskFailed { of: SyncOf::Appended, error: *error },
            Arrival::Operator(action) => Input::Operator { action: *action },
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Trap {
    pub(crate) fault: u32,
    pub(crate) client: HostIndex,
    pub(crate) loses: LostMessage,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LostMessage {
    Request,
    Reply,
}

pub(crate) struct Server {
    pub(crate) machine: Option<Box<dyn Machine>>,
    pub(crate) factory: Factory,
    pub(crate) wording: Wording,
    pub(crate) sign_of_life: fn(&[u8]) -> bool,
    pub(crate) disk: Disk,
    pub(crate) inbox: VecDeque<Arrival>,
    pub(crate) outgoing: VecDeque<(SimTime, Vec<Output>)>,
    pub(crate) connections: BTreeMap<ConnectionId, u32>,
    /// Sockets of all connections since the start. After a connection has closed, the server may
    /// still execute its request, for example when a sync ends.
    pub(crate) sockets_ever: BTreeMap<ConnectionId, u32>,
    pub(crate) next_connection: u32,
    pub(crate) leaving: Vec<ConnectionId>,
    pub(crate) timer_generation: u32,
    pub(crate) timer_deadline: Option<u64>,
    pub(crate) life: u32,
    pub(crate) service_time: Micros,
    pub(crate) slowed: Vec<(u32, Micros)>,
    pub(crate) traps: Vec<Trap>,
    pub(crate) busy_until: SimTime,
    pub(crate) wakes_when_done: bool,
    pub(crate) sync_time: Micros,
    /// Draws the lengths of torn writes. `None` if a power loss loses all unsynced data.
    pub(crate) torn: Option<ChaCha8Rng>,
    pub(crate) scratch: Outputs,
}

impl Server {
    pub(crate) fn will_send(&self, matters: impl Fn(ConnectionId) -> bool) -> bool {
        let is_asked = |arrival: &Arrival| match arrival {
            Arrival::Accepted(connection, _)
            | Arrival::Readable(connection, _)
            | Arrival::Closed(connection)
            | Arrival::Connected(connection)
            | Arrival::ConnectFailed(connection) => matters(*connection),
            Arrival::Timer | Arrival::DiskSynced | Arrival::DiskFailed(_) => false,
            // The machine may send to any connection after these events.
            Arrival::Started | Arrival::Continue | Arrival::Operator(_) => true,
        };
        let answers = |output: &Output| match output {
            Output::Send { connection, .. }
            | Output::Close { connection }
            | Output::Abort { connection } => matters(*connection),
            _ => false,
        };
        self.inbox.iter().any(is_asked)
            || self.outgoing.iter().any(|(_, outputs)| outputs.iter().any(answers))
            || self.machine.as_ref().is_some_and(|machine| machine.will_send())
    }

    pub(crate) fn new(service_time: Micros, sync_time: Micros, factory: Factory) -> Server {
        Server {
            machine: None,
            factory,
            wording: wording::lines,
            sign_of_life: |_| false,
            disk: Disk::default(),
            inbox: VecDeque::new(),
            outgoing: VecDeque::new(),
            connections: BTreeMap::new(),
            sockets_ever: BTreeMap::new(),
            next_connection: 0,
            leaving: Vec::new(),
            timer_generation: 0,
            timer_deadline: None,
            life: 0,
            service_time,
            slowed: Vec::new(),
            traps: Vec::new(),
            busy_until: SimTime::ZERO,
            wakes_when_done: false,
            sync_time,
            torn: None,
            scratch: Outputs::default(),
        }
    }

    pub(crate) fn opened(&mut self, connection: ConnectionId, socket: u32) {
        self.connections.insert(connection, socket);
        self.sockets_ever.insert(connection, socket);
    }

    pub(crate) fn service_time(&self) -> Micros {
        self.slowed.iter().fold(self.service_time, |sum, (_, extra)| sum + *extra)
    }

    pub(crate) fn start(&mut self, now: SimTime, clocks: Now) {
        let machine = (self.factory)(self.disk.image(), clocks);
        self.wording = machine.wording();
        self.sign_of_life = machine.sign_of_life();
        self.machine = Some(machine);
        self.inbox.clear();
        self.inbox.push_back(Arrival::Started);
        self.busy_until = now;
        self.life += 1;
    }

    pub(crate) fn stop(&mut self) {
        self.machine = None;
        self.inbox.clear();
        self.outgoing.clear();
        self.connections.clear();
        self.sockets_ever.clear();
        self.leaving.clear();
        self.timer_generation += 1;
        self.timer_deadline = None;
        self.wakes_when_done = false;
        self.traps.clear();
    }
}
