//! The lengths in a scenario that the family `all` can draw.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A length that a seed of the family `all` draws, named by its scenario key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// Lifetime of a lock at the server, from 4 s to 30 s.
    Ttl,
    /// Length of a critical section, up to a maximum between 30 % and 80 % of the lease.
    Hold,
    /// Pause of a process between two cycles, up to a maximum between 2 ms and 1 s.
    Think,
    /// Delay between two attempts to acquire, up to a maximum between 100 ms and 1 s and at least a
    /// quarter of the maximum.
    Retry,
    /// Timeout for a storage request, from 500 ms to three leases.
    StorageTimeout,
}
