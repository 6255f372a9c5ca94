//! The members of a run and their progress. Each thread of a process is a member.

use fencepost_faults::{Node, Seed, Stream};
use rand_chacha::ChaCha8Rng;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

pub(crate) struct Roster {
    members: BTreeMap<Node, Member>,
    pauses: RefCell<BTreeMap<Node, PauseClock>>,
    unfinished: Cell<usize>,
}

pub(crate) struct Member {
    pub(crate) cycles_left: Cell<u32>,
    pub(crate) draws: RefCell<ChaCha8Rng>,
    pub(crate) impatience: RefCell<ChaCha8Rng>,
    pub(crate) nesting: RefCell<ChaCha8Rng>,
    is_finished: Cell<bool>,
}

#[derive(Clone, Copy, Default)]
struct PauseClock {
    since: Option<u64>,
    before: u64,
}

impl Roster {
    pub(crate) fn new(seed: Seed, nodes: &[Node], cycles: u32) -> Roster {
        let member = |node: &Node| {
            let draws = RefCell::new(seed.stream(Stream::Workload(*node)));
            let impatience = RefCell::new(seed.stream(Stream::Impatience(*node)));
            let nesting = RefCell::new(seed.stream(Stream::Nesting(*node)));
            let (cycles_left, is_finished) = (Cell::new(cycles), Cell::new(false));
            (*node, Member { cycles_left, draws, impatience, nesting, is_finished })
        };
        Roster {
            members: nodes.iter().map(member).collect(),
            pauses: RefCell::default(),
            unfinished: Cell::new(nodes.len()),
        }
    }

    pub(crate) fn begin_pause(&self, machine: Node, now_us: u64) {
        self.pauses.borrow_mut().entry(machine).or_default().since.get_or_insert(now_us);
    }

    pub(crate) fn end_pause(&self, machine: Node, now_us: u64) {
        if let Some(clock) = self.pauses.borrow_mut().get_mut(&machine)
            && let Some(since) = clock.since.take()
        {
            clock.before += now_us.saturating_sub(since);
        }
    }

    pub(crate) fn paused_time(&self, machine: Node) -> Duration {
        let all = self.pauses.borrow();
        Duration::from_micros(all.get(&machine).map_or(0, |clock| clock.before))
    }

    pub(crate) fn member(&self, node: Node) -> &Member {
        self.members.get(&node).unwrap_or_else(|| panic!("{node} is not on the roster"))
    }

    pub(crate) fn finish(&self, node: Node) {
        if let Some(member) = self.members.get(&node)
            && !member.is_finished.replace(true)
        {
            self.unfinished.set(self.unfinished.get() - 1);
        }
    }

    pub(crate) fn finish_machine(&self, machine: Node) {
        self.members
            .keys()
            .filter(|node| node.machine() == machine)
            .for_each(|node| self.finish(*node));
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.unfinished.get() == 0
    }
}
