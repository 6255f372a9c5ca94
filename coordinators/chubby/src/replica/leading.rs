//! A master's part: it has states accepted, and its lease renewed.

use super::Replica;
use crate::message::Message;
use crate::times::{MASTER_LEASE_US, RENEW_US, shortened};
use std::collections::BTreeMap;

/// What a master knows of the others.
#[derive(Clone, Debug)]
pub(super) struct Leading {
    /// The latest index and round that each has acknowledged.
    acks: BTreeMap<u8, (u64, u64)>,
    round: u64,
    /// When each round was sent that may still be acknowledged by a majority.
    sent: BTreeMap<u64, u64>,
    /// The latest index that a majority has accepted; 0 for none.
    pub(super) committed: u64,
    /// Until then nobody else is elected.
    pub(super) lease_until: u64,
    pub(super) renew_at: u64,
}

impl Leading {
    /// A master that has been elected. Its first state has to be accepted within a lease.
    pub(super) fn new(now: u64) -> Leading {
        Leading {
            acks: BTreeMap::new(),
            round: 0,
            sent: BTreeMap::new(),
            committed: 0,
            lease_until: now + shortened(MASTER_LEASE_US),
            renew_at: now,
        }
    }

    pub(super) fn due(&self) -> u64 {
        self.renew_at.min(self.lease_until)
    }

    /// The highest value that a majority has reached, where `own` is that of the master.
    fn agreed(&self, majority: usize, own: u64, of: fn(&(u64, u64)) -> u64) -> u64 {
        let mut values: Vec<u64> = self.acks.values().map(of).chain([own]).collect();
        values.sort_unstable_by(|a, b| b.cmp(a));
        values.get(majority - 1).copied().unwrap_or(0)
    }
}

impl Replica {
    /// As the master: has the state accepted, which has changed. Returns its index.
    pub(crate) fn propose(&mut self, now: u64) -> u64 {
        self.saved.accepted.index = self.saved.accepted.index.saturating_add(1);
        self.is_unsaved = true;
        self.propose_again(now);
        self.saved.accepted.index
    }

    /// As the master: has the state accepted by all, and the lease renewed.
    pub(super) fn propose_again(&mut self, now: u64) {
        let accepted = self.saved.accepted.clone();
        let Some(leading) = &mut self.leading else { return };
        leading.round += 1;
        leading.sent.insert(leading.round, now);
        leading.renew_at = now + RENEW_US;
        let (round, committed) = (leading.round, leading.committed);
        self.tell_all(&Message::Accept { round, committed, accepted });
        self.count_acks();
    }

    /// As the master: another replica has accepted the state of that index, in that round.
    pub(super) fn acknowledged(&mut self, from: u8, ack: (u64, u64)) {
        let Some(leading) = &mut self.leading else { return };
        let known = leading.acks.entry(from).or_default();
        *known = (known.0.max(ack.0), known.1.max(ack.1));
        self.count_acks();
    }

    fn count_acks(&mut self) {
        let (majority, index) = (self.majority(), self.saved.accepted.index);
        let Some(leading) = &mut self.leading else { return };
        let round = leading.agreed(majority, leading.round, |ack| ack.1);
        if let Some(sent) = leading.sent.get(&round) {
            leading.lease_until = sent + shortened(MASTER_LEASE_US);
            leading.sent = leading.sent.split_off(&round);
        }
        self.loyal_until = leading.lease_until;
        let committed = leading.agreed(majority, index, |ack| ack.0).min(index);
        if committed > leading.committed {
            leading.committed = committed;
            let ballot = self.saved.accepted.ballot;
            if committed == index {
                self.learned = (ballot, index);
            }
            self.tell_all(&Message::Commit { ballot, index: committed });
        }
    }
}
