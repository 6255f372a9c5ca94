//! A pending call that looks up or renews a lease.

pub(crate) const LEASE_RETRY_MS: u64 = 1_000;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    pub(crate) id: i64,
    pub(crate) renews: bool,
    pub(crate) keys: bool,
    pub(crate) ask_again_ms: u64,
}

impl Lease {
    pub(crate) fn renewal(id: i64) -> Lease {
        Lease { id, renews: true, keys: false, ask_again_ms: 0 }
    }

    pub(crate) fn query(id: i64, keys: bool) -> Lease {
        Lease { id, renews: false, keys, ask_again_ms: 0 }
    }
}
