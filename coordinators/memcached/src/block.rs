//! A command that waits for its data block.

use crate::clock::Expiry;
use bytes::Bytes;

/// On what condition a value is stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Set,
    Add,
    Replace,
    Append,
    Prepend,
    Cas(u64),
}

/// A command that waits for its data block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Storing {
    pub(crate) mode: Mode,
    pub(crate) key: Bytes,
    pub(crate) flags: u32,
    pub(crate) expiry: Expiry,
    pub(crate) length: usize,
    pub(crate) quiet: bool,
}

impl Storing {
    /// How many bytes the block has, with the end of its line.
    pub(crate) fn block_length(&self) -> usize {
        self.length + 2
    }
}
