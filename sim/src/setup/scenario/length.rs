use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A length that a seed draws unless the user sets it, named by its scenario key. Under the family
/// `all`, a seed draws every length. Under other families, a seed draws `hold` for locks that renew
/// or extend their lease, and `storage-timeout` under `storage-delay`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// Lifetime of a lock at the server, from 4 s to 30 s.
    Ttl,
    /// Length of a critical section, up to a maximum between 30 % and 80 % of the lease. For locks
    /// that renew or extend their lease, the maximum is between 60 % and 160 % of the lease under
    /// `all`, and 150 % of the lease under other families.
    Hold,
    /// Pause of a process between two cycles, up to a maximum between 2 ms and 1 s.
    Think,
    /// Delay between two attempts to acquire. The maximum is between 100 ms and 1 s, and the
    /// minimum is a quarter of the maximum.
    Retry,
    /// Timeout for a storage request, from 500 ms to three leases.
    StorageTimeout,
}
