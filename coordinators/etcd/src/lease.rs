//! A call about a lease that is not answered yet.

/// How long a member waits until it asks again about a lease.
pub(crate) const LEASE_RETRY_MS: u64 = 1_000;

/// A question about a lease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lease {
    pub(crate) id: i64,
    /// It is to be kept alive, as one of a stream.
    pub(crate) renews: bool,
    /// Its keys are wanted, too.
    pub(crate) keys: bool,
    pub(crate) ask_again_ms: u64,
}

impl Lease {
    /// A lease is to be kept alive.
    pub(crate) fn renewal(id: i64) -> Lease {
        Lease { id, renews: true, keys: false, ask_again_ms: 0 }
    }

    /// A lease is to be looked at.
    pub(crate) fn look(id: i64, keys: bool) -> Lease {
        Lease { id, renews: false, keys, ask_again_ms: 0 }
    }
}
