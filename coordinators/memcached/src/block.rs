//! A storage command that is still waiting for its data block.

use crate::clock::Expiry;
use crate::reply::Reply;
use bytes::Bytes;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas(u64),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Storing {
    pub(crate) mode: Mode,
    pub(crate) key: Bytes,
    pub(crate) flags: u32,
    pub(crate) expiry: Expiry,
    pub(crate) length: usize,
    pub(crate) reply: Reply,
}

impl Storing {
    pub(crate) fn block_length(&self) -> usize {
        self.length + 2
    }
}
