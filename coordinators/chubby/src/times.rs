//! Durations, in microseconds of the local monotonic clock.

/// Default extension of a session's lease (2.8: "the default extension is 12s").
pub const SESSION_LEASE_US: u64 = 12_000_000;
/// Longest extension that an overloaded master chooses (3.1: "around 60s").
pub const SESSION_LEASE_MAX_US: u64 = 60_000_000;
/// Longest lock-delay (2.4: "currently one minute").
pub const LOCK_DELAY_MAX_US: u64 = 60_000_000;
/// How long a replica promises to elect no other master (2.2: "a few seconds").
pub const MASTER_LEASE_US: u64 = 6_000_000;

pub(crate) const RENEW_US: u64 = 2_000_000;
pub(crate) const ELECTION_US: u64 = 200_000;

/// Shortens a duration so that it ends in time on a slow clock. Rates differ by up to a sixteenth.
pub(crate) fn shortened(span: u64) -> u64 {
    span - span / 16
}

/// Lengthens a duration so that it has also ended on every other clock when it ends here.
pub(crate) fn lengthened(span: u64) -> u64 {
    span + span / 8
}
