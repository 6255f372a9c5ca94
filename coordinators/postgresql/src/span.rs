//! How long an advisory lock is held.

/// For how long a lock is had.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Span {
    Transaction,
    Session,
}
