use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const LEAD_WEIGHT: u32 = 15;
const WEIGHT: u32 = 10;
/// A view number modulo this constant is the id of the proposer.
const PROPOSERS_MAX: u64 = 256;

/// An incarnation of a server. A restarted server counts as a new member.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Life {
    pub(crate) id: u8,
    pub(crate) born: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Appointed {
    pub(crate) server: Life,
    pub(crate) version: u64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct View {
    pub(crate) system: u64,
    pub(crate) number: u64,
    /// Servers, oldest first. The first live server is the coordinator and elder.
    pub(crate) servers: Vec<Life>,
    pub(crate) processes: BTreeSet<String>,
    pub(crate) grantor: Option<Appointed>,
}

impl View {
    pub(crate) fn has(&self, life: Life) -> bool {
        self.servers.contains(&life)
    }

    pub(crate) fn is_majority(&self, is_one: impl Fn(Life) -> bool) -> bool {
        let weigh = |(at, _): (usize, &Life)| if at == 0 { LEAD_WEIGHT } else { WEIGHT };
        let all: u32 = self.servers.iter().enumerate().map(weigh).sum();
        let some = self.servers.iter().enumerate().filter(|(_, life)| is_one(**life));
        2 * some.map(weigh).sum::<u32>() > all
    }

    pub(crate) fn is_like(&self, other: &View) -> bool {
        (&self.servers, &self.processes, self.grantor)
            == (&other.servers, &other.processes, other.grantor)
    }

    pub(crate) fn proposer(number: u64) -> u8 {
        u8::try_from(number % PROPOSERS_MAX).unwrap_or_default()
    }

    pub(crate) fn number_after(number: u64, proposer: u8) -> u64 {
        (number / PROPOSERS_MAX + 1).saturating_mul(PROPOSERS_MAX).saturating_add(proposer.into())
    }
}
