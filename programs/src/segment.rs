//! A segment of System V shared memory.

/// A segment that a process made.
pub(crate) struct Segment {
    pub(crate) key: i32,
    /// In bytes.
    pub(crate) size: u64,
    /// Where it is mapped, once a process has attached it.
    pub(crate) at: Option<u64>,
}
