//! Caches of hello messages.

use super::Address;
use std::rc::Rc;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Said {
    pub(super) epoch: u64,
    pub(super) config_epoch: u64,
    pub(super) master: Address,
    pub(super) text: Rc<str>,
}

/// Another Sentinel's last processed hello. Most of its messages are repetitions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Heard {
    pub(super) text: Box<[u8]>,
    pub(super) config_epoch: u64,
}
