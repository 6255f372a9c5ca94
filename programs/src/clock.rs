#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Now {
    pub(crate) wall_ns: u64,
    pub(crate) monotonic_ns: u64,
}
