//! Cached hello messages, because most hello messages repeat the previous one.

use super::Address;
use std::rc::Rc;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct OwnHello {
    pub(super) epoch: u64,
    pub(super) config_epoch: u64,
    pub(super) master: Address,
    pub(super) text: Rc<str>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LastHello {
    pub(super) text: Box<[u8]>,
    pub(super) config_epoch: u64,
}
