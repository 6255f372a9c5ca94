use super::Replica;
use crate::message::Message;
use crate::times::{MASTER_LEASE_US, RENEW_US, shortened};
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub(super) struct Leading {
    acks: BTreeMap<u8, (u64, u64)>,
    round: u64,
    sent: BTreeMap<u64, u64>,
    pub(super) committed: u64,
    pub(super) lease_until: u64,
    pub(super) renew_at: u64,
}

impl Leading {
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

    fn agreed(&self, majority: usize, own: u64, of: fn(&(u64, u64)) -> u64) -> u64 {
        let mut values: Vec<u64> = self.acks.values().map(of).chain([own]).collect();
        values.sort_unstable_by(|a, b| b.cmp(a));
        values.get(majority - 1).copied().unwrap_or(0)
    }
}

impl Replica {
    pub(crate) fn propose(&mut self, now: u64) -> u64 {
        self.saved.accepted.index = self.saved.accepted.index.saturating_add(1);
        self.is_unsaved = true;
        self.propose_again(now);
        self.saved.accepted.index
    }

    pub(super) fn propose_again(&mut self, now: u64) {
        let accepted = self.saved.accepted.clone();
        let Some(leading) = &mut self.leading else { return };
        leading.round += 1;
        leading.sent.insert(leading.round, now);
        leading.renew_at = now + RENEW_US;
        let (round, committed) = (leading.round, leading.committed);
        self.broadcast(&Message::Accept { round, committed, accepted });
        self.count_acks();
    }

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
            self.broadcast(&Message::Commit { ballot, index: committed });
        }
    }
}
