//! One server of a stage.

use super::clock::Clock;
use super::event::{End, Event};
use fencepost_machine::{ConnectionId, Disk, DiskImage, Machine, Now, Output};
use std::collections::{BTreeMap, VecDeque};

/// Builds a machine at each start.
pub type BootAgain = Box<dyn Fn(Start) -> Box<dyn Machine>>;

/// The state that a machine of a stage starts from.
#[derive(Debug)]
pub struct Start {
    /// The content of the disk.
    pub disk: DiskImage,
    /// Differs from start to start, and from server to server.
    pub seed: u64,
    /// The first start of the server, not a restart.
    pub is_first: bool,
    /// Both clocks.
    pub now: Now,
}

/// A server that is about to join a stage.
pub struct StagedServer {
    /// Its name in the ready line.
    pub role: &'static str,
    /// The port under which clients and the other servers reach it.
    pub port: u16,
    /// Builds its machine.
    pub boot: BootAgain,
}

pub(super) struct Server {
    pub(super) port: u16,
    pub(super) boot: BootAgain,
    /// `None` after a crash.
    pub(super) machine: Option<Box<dyn Machine>>,
    pub(super) is_frozen: bool,
    /// Without power: peers get no answer, not even a refusal.
    pub(super) is_dark: bool,
    /// Carrying out a command that takes time.
    pub(super) is_busy: bool,
    pub(super) slowed: Vec<(u32, u64)>,
    pub(super) clock: Clock,
    pub(super) timer: u64,
    /// The monotonic time of the timer.
    pub(super) wake_at_us: Option<u64>,
    pub(super) life: u64,
    pub(super) accepted: u32,
    pub(super) peers: BTreeMap<ConnectionId, Peer>,
    pub(super) disk: Disk,
    /// Events held back until the server can handle them.
    pub(super) arriving: VecDeque<Event>,
    /// Output of the command in progress.
    pub(super) leaving: Vec<Output>,
    /// Peers that have not heard of a power loss.
    pub(super) unaware: Vec<Peer>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    Outside(u64),
    Inside(End),
    /// The operator of the stage, whose replies are discarded.
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

    /// Ends the process.
    pub(super) fn end(&mut self) {
        self.machine = None;
        (self.is_frozen, self.is_busy) = (false, false);
        (self.life, self.timer) = (self.life + 1, self.timer + 1);
        self.wake_at_us = None;
        self.leaving.clear();
    }
}
