use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

struct Work {
    initial: i64,
    next: fn(i64) -> Option<i64>,
}

macro_rules! workloads {
    ($($(#[$doc:meta])* $member:ident = $work:expr,)*) => {
        /// Operations on the guarded value in each critical section.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[derive(Display, EnumMessage, EnumString, IntoStaticStr, VariantArray)]
        #[derive(Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[strum(serialize_all = "kebab-case")]
        pub enum Workload {
            $($(#[$doc])* $member,)*
        }

        impl Workload {
            const fn work(self) -> Work {
                match self {
                    $(Workload::$member => $work,)*
                }
            }
        }
    };
}

workloads! {
    /// Each cycle reads a value, changes it and writes it back.
    Register = Work { initial: 0, next: |value| Some(value + 1) },
    /// Each cycle sells at most one item of a flash sale. No item may be sold twice.
    Seckill = Work { initial: 20, next: |value| (value > 0).then(|| value - 1) },
    /// Each cycle issues an increasing number, such as an order number.
    Sequence = Work { initial: 0, next: |value| Some(value + 1) },
    /// Each cycle does one of several numbered jobs. No job may be done twice.
    Jobs = Work { initial: 0, next: |value| Some(value + 1) },
}

impl Workload {
    pub fn initial(self) -> i64 {
        self.work().initial
    }

    /// Returns the next value to write, or `None` if the stock is sold out.
    pub fn next(self, value: i64) -> Option<i64> {
        (self.work().next)(value)
    }
}

impl Workload {
    pub fn is_done_once(self) -> bool {
        self == Workload::Jobs
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
