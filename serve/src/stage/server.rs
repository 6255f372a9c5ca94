use super::clock::Clock;
use super::event::{End, Event};
use fencepost_machine::{ConnectionId, Disk, DiskImage, Machine, Now, Output};
use std::collections::{BTreeMap, VecDeque};

/// A function that builds a machine at each start of the server.
pub type MachineRebuilder = Box<dyn Fn(Start) -> Box<dyn Machine>>;

#[derive(Debug)]
pub struct Start {
    pub disk: DiskImage,
    /// Seed that differs between servers and between starts.
    pub seed: u64,
    /// `false` for a restart.
    pub is_first: bool,
    pub now: Now,
}

pub struct StagedServer {
    pub role: &'static str,
    pub port: u16,
    pub boot: MachineRebuilder,
}

pub(super) struct Server {
    pub(super) port: u16,
    pub(super) boot: MachineRebuilder,
    pub(super) machine: Option<Box<dyn Machine>>,
    pub(super) is_frozen: bool,
    /// `true` while the server has no power: peers receive no reply, not even a refused connection.
    pub(super) is_dark: bool,
    pub(super) is_busy: bool,
    pub(super) slowed: Vec<(u32, u64)>,
    pub(super) clock: Clock,
    pub(super) timer: u64,
    pub(super) wake_at_us: Option<u64>,
    pub(super) life: u64,
    pub(super) accepted: u32,
    pub(super) peers: BTreeMap<ConnectionId, Peer>,
    pub(super) disk: Disk,
    pub(super) arriving: VecDeque<Event>,
    pub(super) leaving: Vec<Output>,
    pub(super) unaware: Vec<Peer>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    Outside(u64),
    Inside(End),
    Operator,
}

impl Server {
    pub(super) fn new(staged: StagedServer) -> Server {
        Server {
            port: staged.port,
            boot: staged.boot,
            machine: None,
            is_frozen: false,
            is_dark: false,
            is_busy: false,
            slowed: Vec::new(),
            clock: Clock::default(),
            timer: 0,
            wake_at_us: None,
            life: 0,
            accepted: 0,
            peers: BTreeMap::new(),
            disk: Disk::default(),
            arriving: VecDeque::new(),
            leaving: Vec::new(),
            unaware: Vec::new(),
        }
    }

    pub(super) fn must_wait(&self, event: &Event) -> bool {
        let is_stopped = self.is_frozen || self.is_dark;
        is_stopped || (self.is_busy && !matches!(event, Event::Free { .. }))
    }

    pub(super) fn end(&mut self) {
        self.machine = None;
        (self.is_frozen, self.is_busy) = (false, false);
        (self.life, self.timer) = (self.life + 1, self.timer + 1);
        self.wake_at_us = None;
        self.leaving.clear();
    }
}
