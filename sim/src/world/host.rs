//! One host: its clocks, its gate, and the software that it runs.

use super::node_clock::NodeClock;
use super::server::Server;
use super::tasks::TaskFuture;
use fencepost_clients::Env;
use fencepost_clients::env::Draw;
use fencepost_faults::{Node, Seed, Stream};
use rand_chacha::ChaCha8Rng;
use rand_core::Rng;
use std::rc::Rc;

/// What a host runs.
pub(crate) enum Software {
    /// Tasks; the function makes the first one at every start.
    Program(Rc<dyn Fn(Env) -> TaskFuture>),
    /// A server's state machine.
    Machine(Box<Server>),
}

/// One host.
pub(crate) struct Host {
    pub(crate) node: Node,
    pub(crate) clock: NodeClock,
    pub(crate) software: Software,
    /// How many faults hold it still at present.
    pub(crate) pauses: u16,
    /// How many of them also hold its monotonic clock.
    pub(crate) suspensions: u16,
    /// Whether its software runs. Connects are refused while it does not.
    pub(crate) is_up: bool,
    /// Whether it is without power: it neither hears nor answers.
    pub(crate) is_dark: bool,
    /// Whether the crash at hand is a power loss, which no peer is told of.
    pub(crate) dies_silently: bool,
    owner_values: Option<Box<ChaCha8Rng>>,
    jitter: Option<Box<ChaCha8Rng>>,
}

impl Host {
    pub(crate) fn new(node: Node, software: Software) -> Host {
        Host {
            node,
            clock: NodeClock::new(),
            software,
            pauses: 0,
            suspensions: 0,
            is_up: false,
            is_dark: false,
            dies_silently: false,
            owner_values: None,
            jitter: None,
        }
    }

    /// Draws from the host's stream for that use, one for each element.
    pub(crate) fn random(&mut self, seed: Seed, draw: Draw, bits: &mut [u64]) {
        let (stream, rng) = match draw {
            Draw::Owner => (Stream::Owner(self.node), &mut self.owner_values),
            Draw::Jitter => (Stream::Jitter(self.node), &mut self.jitter),
        };
        let rng = rng.get_or_insert_with(|| Box::new(seed.stream(stream)));
        bits.fill_with(|| rng.next_u64());
    }

    /// Whether nothing of it may run.
    pub(crate) fn is_paused(&self) -> bool {
        self.pauses > 0
    }
}
