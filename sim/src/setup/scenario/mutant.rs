//! A mistake that mutation testing plants in a run. A scenario file cannot contain such a mistake.

use fencepost_faults::Node;
use fencepost_machine::{DiskImage, Machine, Now};
use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

pub type Factory = Box<dyn FnMut(DiskImage, Now) -> Box<dyn Machine>>;

pub type Wrap = Box<dyn Fn(Node, Factory) -> Factory>;

#[derive(Clone, Copy)]
pub struct Mutant {
    pub name: &'static str,
    /// Plants the mistake, and counts its effects in the given cell.
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
