//! What was said last, so that the same need not be written or read again.

use super::Address;
use std::rc::Rc;

/// Our own message about a primary as it was last written. Nothing else in it ever changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Said {
    pub(super) epoch: u64,
    pub(super) config_epoch: u64,
    pub(super) master: Address,
    pub(super) text: Rc<str>,
}

/// The last message of another Sentinel that was taken to heart. Most of its messages are the same
/// for as long as nothing happens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Heard {
    pub(super) text: Box<[u8]>,
    pub(super) config_epoch: u64,
}
