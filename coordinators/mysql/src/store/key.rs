//! Keys of rows.

/// The primary key of a row, as it is compared.
pub(crate) type Key = Vec<Part>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Part {
    Number(i128),
    Text(Vec<u8>),
}
