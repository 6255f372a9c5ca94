//! Who takes part in a run, how far each has come, and so when the run is over. Must never know what anyone does.

use fencepost_faults::{Node, Seed, Stream};
use rand_chacha::ChaCha8Rng;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// The processes of a run. What a process has done and drawn survives its crashes here.
pub(crate) struct Roster {
    members: BTreeMap<Node, Member>,
    unfinished: Cell<usize>,
}

/// One process.
pub(crate) struct Member {
    /// How many cycles it still has to do.
    pub(crate) cycles_left: Cell<u32>,
    /// Decides hold times and the like.
    pub(crate) draws: RefCell<ChaCha8Rng>,
    is_finished: Cell<bool>,
}

impl Roster {
    /// Every process with all its cycles ahead.
    pub(crate) fn new(seed: Seed, nodes: &[Node], cycles: u32) -> Roster {
        let member = |node: &Node| {
            let draws = RefCell::new(seed.stream(Stream::Workload(*node)));
            (*node, Member { cycles_left: Cell::new(cycles), draws, is_finished: Cell::new(false) })
        };
        Roster { members: nodes.iter().map(member).collect(), unfinished: Cell::new(nodes.len()) }
    }

    /// One process. Panics if it is not on the roster: the run was set up wrong.
    pub(crate) fn member(&self, node: Node) -> &Member {
        self.members.get(&node).unwrap_or_else(|| panic!("{node} is not on the roster"))
    }

    /// A process has done all that it had to do.
    pub(crate) fn finishes(&self, node: Node) {
        if let Some(member) = self.members.get(&node)
            && !member.is_finished.replace(true)
        {
            self.unfinished.set(self.unfinished.get() - 1);
        }
    }

    /// A process will not come back.
    pub(crate) fn dies_for_good(&self, node: Node) {
        self.finishes(node);
    }

    /// Whether nobody has anything left to do.
    pub(crate) fn is_finished(&self) -> bool {
        self.unfinished.get() == 0
    }
}
