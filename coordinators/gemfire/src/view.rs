//! Membership views.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Weight of the oldest server, the lead member.
const LEAD_WEIGHT: u32 = 15;
/// Weight of any other server.
const WEIGHT: u32 = 10;
/// Numbers of views are multiples of this plus the proposer's number.
const PROPOSERS_MAX: u64 = 256;

/// One life of a server: a restarted server is another member.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Life {
    pub(crate) id: u8,
    /// Its wall clock when it began.
    pub(crate) born: u64,
}

/// The server that grants locks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Appointed {
    pub(crate) server: Life,
    /// The number of the view that appointed it.
    pub(crate) version: u64,
}

/// The members of the distributed system.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct View {
    /// Differs between systems that were founded separately.
    pub(crate) system: u64,
    pub(crate) number: u64,
    /// Oldest first. The first that is alive is the coordinator and elder.
    pub(crate) servers: Vec<Life>,
    /// The members that run no servers.
    pub(crate) processes: BTreeSet<String>,
    pub(crate) grantor: Option<Appointed>,
}

impl View {
    pub(crate) fn has(&self, life: Life) -> bool {
        self.servers.contains(&life)
    }

    /// Returns whether these servers weigh more than half of all.
    pub(crate) fn is_majority(&self, is_one: impl Fn(Life) -> bool) -> bool {
        let weigh = |(at, _): (usize, &Life)| if at == 0 { LEAD_WEIGHT } else { WEIGHT };
        let all: u32 = self.servers.iter().enumerate().map(weigh).sum();
        let some = self.servers.iter().enumerate().filter(|(_, life)| is_one(**life));
        2 * some.map(weigh).sum::<u32>() > all
    }

    /// Returns whether two views have the same members and grantor.
    pub(crate) fn is_like(&self, other: &View) -> bool {
        (&self.servers, &self.processes, self.grantor)
            == (&other.servers, &other.processes, other.grantor)
    }

    pub(crate) fn proposer(number: u64) -> u8 {
        u8::try_from(number % PROPOSERS_MAX).unwrap_or_default()
    }

    /// A higher number of a proposer than any before.
    pub(crate) fn number_after(number: u64, proposer: u8) -> u64 {
        (number / PROPOSERS_MAX + 1).saturating_mul(PROPOSERS_MAX).saturating_add(proposer.into())
    }
}
