//! The scope of an advisory lock: a transaction or a session.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Span {
    Transaction,
    Session,
}
