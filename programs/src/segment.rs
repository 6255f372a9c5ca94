//! Segments of System V shared memory, each with the processes that attached it.

pub(crate) struct Segment {
    pub(crate) key: i32,
    pub(crate) size: u64,
    pub(crate) at: Option<u64>,
}
