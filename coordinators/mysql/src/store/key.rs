//! Keys of rows ([`Key`]).

pub(crate) type Key = Vec<Part>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Part {
    Number(i128),
    Text(Vec<u8>),
}
