//! The lengths of a scenario that a swarm can draw; `lengths` draws them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A length that a swarm draws, under its key in the scenario.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Length {
    /// How long a lock lives at the server: 4 s to 30 s.
    Ttl,
    /// How long a process holds it: up to something between three and eight tenths of the lease.
    Hold,
    /// How long a process waits between two cycles: up to something between 2 ms and 1 s.
    Think,
    /// The delay between two attempts to acquire: up to something between 100 ms and 1 s, and a
    /// quarter of that at least.
    Retry,
    /// How long a process waits for the storage: 500 ms to three leases.
    StorageTimeout,
}
