//! A mistake that is planted in a run, to test the tests. No scenario file can ask for one.

use fencepost_faults::Node;
use fencepost_machine::{DiskImage, Machine, Now};
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

/// Makes a server's machine at every start, from what its disk holds.
pub type Factory = Box<dyn FnMut(DiskImage, Now) -> Box<dyn Machine>>;

/// Makes the machine of a node with the mistake, where it is made at that node.
pub type Wrap = Box<dyn Fn(Node, Factory) -> Factory>;

/// A mistake in the servers of a run, or between them and the lock.
#[derive(Clone, Copy)]
pub struct Mutant {
    /// The name of the mistake. Two with the same name are the same.
    pub name: &'static str,
    /// Plants it in one run, and counts there how often it is made.
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
