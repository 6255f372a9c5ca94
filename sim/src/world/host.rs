use super::node_clock::NodeClock;
use super::server::Server;
use super::tasks::TaskFuture;
use fencepost_clients::Env;
use fencepost_clients::env::Draw;
use fencepost_faults::{Node, Seed, SimTime, Stream};
use rand_chacha::ChaCha8Rng;
use rand_core::Rng;
use std::rc::Rc;

pub(crate) enum Software {
    Program(Rc<dyn Fn(Env) -> TaskFuture>),
    Machine(Box<Server>),
}

pub(crate) struct Host {
    pub(crate) node: Node,
    pub(crate) clock: NodeClock,
    pub(crate) software: Software,
    pub(crate) pauses: u16,
    pub(crate) suspensions: u16,
    pub(crate) is_up: bool,
    /// `true` if the server stopped by itself and will start again.
    pub(crate) has_stopped: bool,
    pub(crate) is_dark: bool,
    pub(crate) dies_silently: bool,
    owner_values: Option<Box<ChaCha8Rng>>,
    jitter: Option<Box<ChaCha8Rng>>,
}

impl Host {
    pub(crate) fn new(node: Node, software: Software, begins_at: SimTime) -> Host {
        Host {
            node,
            clock: NodeClock::new(begins_at),
            software,
            pauses: 0,
            suspensions: 0,
            is_up: false,
            has_stopped: false,
            is_dark: false,
            dies_silently: false,
            owner_values: None,
            jitter: None,
        }
    }

    pub(crate) fn random(&mut self, seed: Seed, draw: Draw, bits: &mut [u64]) {
        let (stream, rng) = match draw {
            Draw::Owner => (Stream::Owner(self.node), &mut self.owner_values),
            Draw::Jitter => (Stream::Jitter(self.node), &mut self.jitter),
        };
        let rng = rng.get_or_insert_with(|| Box::new(seed.stream(stream)));
        bits.fill_with(|| rng.next_u64());
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.pauses > 0
    }
}
