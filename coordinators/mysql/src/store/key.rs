use serde::{Deserialize, Serialize};

pub(crate) type Key = Vec<Part>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(crate) enum Part {
    Number(i128),
    Text(Vec<u8>),
}
