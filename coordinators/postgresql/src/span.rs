#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Span {
    Transaction,
    Session,
}
