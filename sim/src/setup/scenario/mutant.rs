//! A mistake planted in a run to test the tests. A scenario file cannot contain one.

use fencepost_faults::Node;
use fencepost_machine::{DiskImage, Machine, Now};
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

/// Function that makes a server's machine at every start, from the contents of its disk.
pub type Factory = Box<dyn FnMut(DiskImage, Now) -> Box<dyn Machine>>;

/// Function that wraps the machine of a node, if the mistake applies to that node.
pub type Wrap = Box<dyn Fn(Node, Factory) -> Factory>;

/// A mistake in the servers of a run, or in the messages between them and the lock.
#[derive(Clone, Copy)]
pub struct Mutant {
    /// Unique name of the mistake.
    pub name: &'static str,
    /// Function that plants the mistake in one run, and counts its effects there.
    pub plant: fn(&'static str, Rc<Cell<u64>>) -> Wrap,
}

impl fmt::Debug for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mutant({})", self.name)
    }
}

impl PartialEq for Mutant {
    fn eq(&self, other: &Mutant) -> bool {
        self.name == other.name
    }
}

impl Eq for Mutant {}
