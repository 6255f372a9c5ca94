//! Leases: how long each lives, and which keys go with it (`lease/lessor.go`).
//!
//! Which leases there are, and their keys, all members know alike. When one ends only the leader
//! knows, by its own monotonic clock; it has it revoked like a client. A new leader gives every
//! lease its whole ttl and an election timeout more.

use crate::refusal::Refusal;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// The longest ttl, in seconds (`MaxLeaseTTL`).
const TTL_MAX: i64 = 9_000_000_000;
/// How often the leader looks for leases that have ended, in microseconds.
pub(crate) const LOOK_US: u64 = 500_000;
/// How long it waits until it has a lease revoked again that is still there
/// (`defaultExpiredleaseRetryInterval`).
const RETRY_US: u64 = 3_000_000;
/// How many it has revoked at a time (`leaseRevokeRate / 2`).
const REVOKES_MAX: usize = 500;

/// A lease.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lease {
    /// In seconds.
    pub(crate) ttl: i64,
    pub(crate) keys: BTreeSet<Bytes>,
    /// When it ends by this server's monotonic clock, if it leads.
    expiry_us: Option<u64>,
    /// When to have it revoked: at its end, and again.
    revoke_us: u64,
}

/// All leases.
#[derive(Clone, Debug)]
pub(crate) struct Lessor {
    leases: BTreeMap<i64, Lease>,
    /// Which lease a key goes with.
    items: BTreeMap<Bytes, i64>,
    /// The shortest ttl, in seconds.
    ttl_min: i64,
    is_primary: bool,
}

fn micros(seconds: i64) -> u64 {
    u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000_000)
}

impl Lessor {
    pub(crate) fn new(ttl_min: i64) -> Lessor {
        Lessor { leases: BTreeMap::new(), items: BTreeMap::new(), ttl_min, is_primary: false }
    }

    pub(crate) fn get(&self, id: i64) -> Option<&Lease> {
        self.leases.get(&id)
    }

    /// The ids of all leases, those that end first in front.
    pub(crate) fn ids(&self) -> Vec<i64> {
        let mut ids: Vec<(Option<u64>, i64)> =
            self.leases.iter().map(|(id, lease)| (lease.expiry_us, *id)).collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.leases.is_empty()
    }

    /// Returns the ttl.
    pub(crate) fn grant(&mut self, id: i64, ttl: i64, now_us: u64) -> Result<i64, Refusal> {
        if id == 0 {
            return Err(Refusal::LeaseNotFound);
        }
        if ttl > TTL_MAX {
            return Err(Refusal::LeaseTtlTooLarge);
        }
        if self.leases.contains_key(&id) {
            return Err(Refusal::LeaseExists);
        }
        let ttl = ttl.max(self.ttl_min);
        let mut lease = Lease { ttl, keys: BTreeSet::new(), expiry_us: None, revoke_us: 0 };
        if self.is_primary {
            lease.refresh(now_us, 0);
        }
        self.leases.insert(id, lease);
        Ok(ttl)
    }

    /// Removes a lease; its keys are to be deleted.
    pub(crate) fn revoke(&mut self, id: i64) -> Result<BTreeSet<Bytes>, Refusal> {
        let lease = self.leases.remove(&id).ok_or(Refusal::LeaseNotFound)?;
        for key in &lease.keys {
            self.items.remove(key);
        }
        Ok(lease.keys)
    }

    /// A key goes with this lease from now on, and with no other; 0 is none.
    pub(crate) fn attach(&mut self, key: &Bytes, id: i64) {
        self.detach(key);
        if let Some(lease) = self.leases.get_mut(&id) {
            lease.keys.insert(key.clone());
            self.items.insert(key.clone(), id);
        }
    }

    pub(crate) fn detach(&mut self, key: &Bytes) {
        let lease = self.items.remove(key).and_then(|id| self.leases.get_mut(&id));
        if let Some(lease) = lease {
            lease.keys.remove(key);
        }
    }

    /// A client is alive. `Ok` with the ttl; `Err` with true if the lease has ended, but is still
    /// to be revoked.
    pub(crate) fn renew(&mut self, id: i64, now_us: u64) -> Result<i64, bool> {
        let lease = self.leases.get_mut(&id).ok_or(false)?;
        if lease.expiry_us.is_some_and(|expiry| expiry <= now_us) {
            return Err(true);
        }
        lease.refresh(now_us, 0);
        Ok(lease.ttl)
    }

    /// How many whole seconds a lease still has.
    pub(crate) fn remaining(&self, id: i64, now_us: u64) -> i64 {
        let expiry = self.leases.get(&id).and_then(|lease| lease.expiry_us);
        let left = expiry.map_or(i64::MAX.cast_unsigned(), |expiry| expiry.saturating_sub(now_us));
        i64::try_from(left / 1_000_000).unwrap_or(i64::MAX)
    }

    /// This server leads from now on.
    pub(crate) fn promote(&mut self, now_us: u64, extend_us: u64) {
        self.is_primary = true;
        self.leases.values_mut().for_each(|lease| lease.refresh(now_us, extend_us));
    }

    /// It no longer does.
    pub(crate) fn demote(&mut self) {
        self.is_primary = false;
        self.leases.values_mut().for_each(|lease| lease.expiry_us = None);
    }

    /// The leases that have ended and are to be revoked now.
    pub(crate) fn expired(&mut self, now_us: u64) -> Vec<i64> {
        let due = self.leases.iter_mut().filter(|(_, lease)| {
            lease.expiry_us.is_some_and(|expiry| expiry <= now_us) && lease.revoke_us <= now_us
        });
        let due = due.take(REVOKES_MAX).map(|(id, lease)| {
            lease.revoke_us = now_us + RETRY_US;
            *id
        });
        due.collect()
    }

    /// When the next lease is to be revoked.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let leases = self.leases.values();
        leases.filter_map(|lease| Some(lease.expiry_us?.max(lease.revoke_us))).min()
    }
}

impl Lease {
    fn refresh(&mut self, now_us: u64, extend_us: u64) {
        let expiry = now_us.saturating_add(micros(self.ttl)).saturating_add(extend_us);
        (self.expiry_us, self.revoke_us) = (Some(expiry), expiry);
    }
}
