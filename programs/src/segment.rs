pub(crate) struct Segment {
    pub(crate) key: i32,
    pub(crate) size: u64,
    pub(crate) at: Option<u64>,
}
