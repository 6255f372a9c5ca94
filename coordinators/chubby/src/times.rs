//! Spans, in microseconds of the monotonic clock of whoever counts them.

/// By how much a master extends the lease of a session (2.8: "the default extension is 12s").
pub const SESSION_LEASE_US: u64 = 12_000_000;
/// The longest extension, which an overloaded master chooses (3.1: "around 60s").
pub const SESSION_LEASE_MAX_US: u64 = 60_000_000;
/// The longest lock-delay that a client may ask for (2.4: "currently one minute").
pub const LOCK_DELAY_MAX_US: u64 = 60_000_000;
/// How long the replicas promise not to elect another master (2.2: "a few seconds").
pub const MASTER_LEASE_US: u64 = 6_000_000;

/// How often a master renews its lease.
pub(crate) const RENEW_US: u64 = 2_000_000;
/// How long a replica that wants to be the master waits for promises, at least.
pub(crate) const ELECTION_US: u64 = 200_000;

/// A span that is over by the own clock before it is over by any other, whose rate may differ by a
/// sixteenth.
pub(crate) fn shortened(span: u64) -> u64 {
    span - span / 16
}

/// A span that is over by the own clock after it is over by any other.
pub(crate) fn lengthened(span: u64) -> u64 {
    span + span / 8
}
