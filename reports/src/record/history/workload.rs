//! What a lock guards. A new workload is a member here with what it starts from and what is written
//! back; what it must keep is a checker of its own (`judge/checker`), if no other says it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

/// What is guarded.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Debug,
    Display,
    EnumMessage,
    EnumString,
    IntoStaticStr,
    VariantArray,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Workload {
    /// One value, read, changed and written back.
    Register,
    /// A flash sale: stock that must not be sold twice.
    Seckill,
    /// A global increasing number.
    Sequence,
}

impl Workload {
    /// What the storage holds at the start.
    pub fn initial(self) -> i64 {
        match self {
            Workload::Register | Workload::Sequence => 0,
            Workload::Seckill => 20,
        }
    }

    /// What a process writes back after it has read `value`; `None` if there is nothing to write:
    /// the stock is sold out.
    pub fn next(self, value: i64) -> Option<i64> {
        match self {
            Workload::Register | Workload::Sequence => Some(value + 1),
            Workload::Seckill => (value > 0).then(|| value - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sale_ends_when_nothing_is_left_and_a_sequence_never_does() {
        let stock = Workload::Seckill.initial();
        assert_eq!(Workload::Seckill.next(stock), Some(stock - 1));
        assert_eq!(Workload::Seckill.next(0), None);
        assert_eq!(Workload::Sequence.next(Workload::Sequence.initial()), Some(1));
    }
}
