//! Latencies, cuts and delays between hosts. See "The world" in ARCHITECTURE.md.

use super::priorities::Priorities;
use fencepost_faults::{Micros, Node, Seed, SimTime, Stream, draw};
use rand_chacha::ChaCha8Rng;

/// Linux's `TCP_RTO_MIN`.
pub(crate) const RETRY_FIRST: Micros = Micros::from_millis(200);
pub(crate) const RETRY_CAP: Micros = Micros::from_millis(3_200);
/// Linux's `TCP_TIMEOUT_INIT`.
pub(crate) const CONNECT_RETRY_FIRST: Micros = Micros::from_secs(1);
pub(crate) const CONNECT_RETRY_CAP: Micros = Micros::from_secs(4);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    Drawn,
    SlowOnly([Node; 2]),
    Priorities,
}

enum Paced {
    Drawn,
    SlowOnly([Node; 2]),
    Priorities(Priorities),
}

pub(crate) struct Network {
    seed: Seed,
    quantum: Micros,
    latency_quanta: (u64, u64),
    pace: Paced,
    nodes: Vec<Node>,
    directions: Vec<Direction>,
    /// `false` until a link is cut or a host loses power, so that messages can skip the checks.
    pub(crate) had_obstacles: bool,
}

#[derive(Default)]
struct Direction {
    latency: Option<Box<ChaCha8Rng>>,
    cuts: u16,
    delays: Vec<(u32, Micros, Micros)>,
}

impl Network {
    pub(crate) fn new(
        seed: Seed,
        nodes: Vec<Node>,
        quantum: Micros,
        latency: (Micros, Micros),
    ) -> Network {
        let quanta = |span: Micros| (span.0.div_ceil(quantum.0)).max(1);
        let directions = (0..nodes.len() * nodes.len()).map(|_| Direction::default()).collect();
        Network {
            seed,
            quantum,
            latency_quanta: (quanta(latency.0), quanta(latency.1)),
            pace: Paced::Drawn,
            nodes,
            directions,
            had_obstacles: false,
        }
    }

    pub(crate) fn paced(self, pace: Pace) -> Network {
        let pace = match pace {
            Pace::Drawn => Paced::Drawn,
            Pace::SlowOnly(link) => Paced::SlowOnly(link),
            Pace::Priorities => Paced::Priorities(Priorities::new(self.seed, self.nodes.len())),
        };
        Network { pace, ..self }
    }

    fn range(&mut self, from: usize, to: usize) -> (u64, u64) {
        let (low, high) = self.latency_quanta;
        match &mut self.pace {
            Paced::Drawn => (low, high),
            Paced::SlowOnly([a, b]) => {
                let ends = [self.nodes[from].machine(), self.nodes[to].machine()];
                let is_slow = ends == [*a, *b] || ends == [*b, *a];
                if is_slow { (high, high) } else { (low, low) }
            }
            Paced::Priorities(priorities) => {
                let exact = low + priorities.sends(from, to, high.saturating_sub(low));
                (exact, exact)
            }
        }
    }

    pub(crate) fn latency(&mut self, from: usize, to: usize) -> Micros {
        let (low, high) = self.range(from, to);
        let (seed, nodes) = (self.seed, &self.nodes);
        let direction = &mut self.directions[from * nodes.len() + to];
        let stream = || Box::new(seed.stream(Stream::Latency(nodes[from], nodes[to])));
        let rng = direction.latency.get_or_insert_with(stream);
        let mut span = draw::uniform(rng, low..=high) * self.quantum.0;
        for (_, least, most) in &direction.delays {
            span += draw::uniform(rng, least.0..=most.0).div_ceil(self.quantum.0) * self.quantum.0;
        }
        Micros(span)
    }

    pub(crate) fn is_cut(&self, from: usize, to: usize) -> bool {
        self.directions[from * self.nodes.len() + to].cuts > 0
    }

    pub(crate) fn cut(&mut self, from: usize, to: usize) {
        self.had_obstacles = true;
        self.direction(from, to).cuts += 1;
    }

    pub(crate) fn heal(&mut self, from: usize, to: usize) {
        self.direction(from, to).cuts -= 1;
    }

    pub(crate) fn delay(&mut self, from: usize, to: usize, fault: u32, extra: (Micros, Micros)) {
        self.direction(from, to).delays.push((fault, extra.0, extra.1));
    }

    pub(crate) fn undelay(&mut self, from: usize, to: usize, fault: u32) {
        self.direction(from, to).delays.retain(|(id, ..)| *id != fault);
    }

    fn direction(&mut self, from: usize, to: usize) -> &mut Direction {
        let width = self.nodes.len();
        &mut self.directions[from * width + to]
    }
}

pub(crate) fn align_up(at: SimTime, quantum: Micros) -> SimTime {
    SimTime(at.0.div_ceil(quantum.0).saturating_mul(quantum.0))
}
