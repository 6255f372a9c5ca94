//! A segment of System V shared memory.

pub(crate) struct Segment {
    pub(crate) key: i32,
    /// In bytes.
    pub(crate) size: u64,
    /// Set once a process has attached it.
    pub(crate) at: Option<u64>,
}
