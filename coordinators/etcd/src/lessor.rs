//! Leases (`lease/lessor.go`). Only the leader tracks expiry, by its own clock. A new leader
//! extends every lease to its full ttl plus an election timeout.

use crate::refusal::Refusal;
use bytes::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// Longest ttl in seconds (`MaxLeaseTTL`).
const TTL_MAX: i64 = 9_000_000_000;
pub(crate) const CHECK_INTERVAL_US: u64 = 500_000;
/// Interval between attempts to revoke a lease (`defaultExpiredleaseRetryInterval`).
const RETRY_US: u64 = 3_000_000;
/// Maximum number of leases revoked per check (`leaseRevokeRate / 2`).
const REVOKES_MAX: usize = 500;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lease {
    pub(crate) ttl: i64,
    pub(crate) keys: BTreeSet<Bytes>,
    expiry_us: Option<u64>,
    revoke_us: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Lessor {
    leases: BTreeMap<i64, Lease>,
    items: BTreeMap<Bytes, i64>,
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

    pub(crate) fn ids(&self) -> Vec<i64> {
        let mut ids: Vec<(Option<u64>, i64)> =
            self.leases.iter().map(|(id, lease)| (lease.expiry_us, *id)).collect();
        ids.sort_unstable();
        ids.into_iter().map(|(_, id)| id).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.leases.is_empty()
    }

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

    pub(crate) fn revoke(&mut self, id: i64) -> Result<BTreeSet<Bytes>, Refusal> {
        let lease = self.leases.remove(&id).ok_or(Refusal::LeaseNotFound)?;
        for key in &lease.keys {
            self.items.remove(key);
        }
        Ok(lease.keys)
    }

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

    /// Renews a lease and returns its ttl. Fails with `true` if the lease exists but has expired.
    pub(crate) fn renew(&mut self, id: i64, now_us: u64) -> Result<i64, bool> {
        let lease = self.leases.get_mut(&id).ok_or(false)?;
        if lease.expiry_us.is_some_and(|expiry| expiry <= now_us) {
            return Err(true);
        }
        lease.refresh(now_us, 0);
        Ok(lease.ttl)
    }

    pub(crate) fn remaining(&self, id: i64, now_us: u64) -> i64 {
        let expiry = self.leases.get(&id).and_then(|lease| lease.expiry_us);
        let left = expiry.map_or(i64::MAX.cast_unsigned(), |expiry| expiry.saturating_sub(now_us));
        i64::try_from(left / 1_000_000).unwrap_or(i64::MAX)
    }

    pub(crate) fn promote(&mut self, now_us: u64, extend_us: u64) {
        self.is_primary = true;
        self.leases.values_mut().for_each(|lease| lease.refresh(now_us, extend_us));
    }

    pub(crate) fn demote(&mut self) {
        self.is_primary = false;
        self.leases.values_mut().for_each(|lease| lease.expiry_us = None);
    }

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
