//! Who takes part in a run, how far each has come, and so when the run is over. Each thread of a
//! process is a member of its own.

use fencepost_faults::{Node, Seed, Stream};
use rand_chacha::ChaCha8Rng;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::Duration;

/// The threads of all processes of a run. What one has done and drawn survives the crashes of its
/// process here.
pub(crate) struct Roster {
    members: BTreeMap<Node, Member>,
    stood_still: RefCell<BTreeMap<Node, Stillness>>,
    unfinished: Cell<usize>,
}

/// One thread.
pub(crate) struct Member {
    /// How many cycles it still has to do.
    pub(crate) cycles_left: Cell<u32>,
    /// Decides hold times and the like.
    pub(crate) draws: RefCell<ChaCha8Rng>,
    /// Decides which calls it does not wait for to the end.
    pub(crate) impatience: RefCell<ChaCha8Rng>,
    /// Decides which of its sections nest.
    pub(crate) nesting: RefCell<ChaCha8Rng>,
    is_finished: Cell<bool>,
}

/// How long a machine has been held still, by its own monotonic clock, in microseconds.
#[derive(Clone, Copy, Default)]
struct Stillness {
    since: Option<u64>,
    before: u64,
}

impl Roster {
    /// Every thread with all its cycles ahead.
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
            stood_still: RefCell::default(),
            unfinished: Cell::new(nodes.len()),
        }
    }

    /// A machine is held still, at that time of its monotonic clock.
    pub(crate) fn stops(&self, machine: Node, now_us: u64) {
        self.stood_still.borrow_mut().entry(machine).or_default().since.get_or_insert(now_us);
    }

    /// A machine goes on.
    pub(crate) fn goes_on(&self, machine: Node, now_us: u64) {
        if let Some(stillness) = self.stood_still.borrow_mut().get_mut(&machine)
            && let Some(since) = stillness.since.take()
        {
            stillness.before += now_us.saturating_sub(since);
        }
    }

    /// How long a machine that runs has been held still in all: time in which it could not work.
    pub(crate) fn stood_still(&self, machine: Node) -> Duration {
        let all = self.stood_still.borrow();
        Duration::from_micros(all.get(&machine).map_or(0, |stillness| stillness.before))
    }

    /// One thread. Panics if it is not on the roster: the run was set up wrong.
    pub(crate) fn member(&self, node: Node) -> &Member {
        self.members.get(&node).unwrap_or_else(|| panic!("{node} is not on the roster"))
    }

    /// A thread has done all that it had to do.
    pub(crate) fn finishes(&self, node: Node) {
        if let Some(member) = self.members.get(&node)
            && !member.is_finished.replace(true)
        {
            self.unfinished.set(self.unfinished.get() - 1);
        }
    }

    /// A machine will not come back, and no thread of it.
    pub(crate) fn dies_for_good(&self, machine: Node) {
        self.members
            .keys()
            .filter(|node| node.machine() == machine)
            .for_each(|node| self.finishes(*node));
    }

    /// Whether nobody has anything left to do.
    pub(crate) fn is_finished(&self) -> bool {
        self.unfinished.get() == 0
    }
}
