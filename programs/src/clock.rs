//! The clocks.

/// The clocks at this point of a step, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Now {
    pub(crate) wall_ns: u64,
    pub(crate) monotonic_ns: u64,
}
