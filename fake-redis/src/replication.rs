//! Replication after Redis 7.0's replication.c.
//!
//! In: REPLICAOF, PSYNC, FAILOVER and messages of the other side. Out: stream and snapshots to
//! replicas, acknowledgements to the primary. `primary` feeds replicas; `follower` and `handshake`
//! are a replica's link; `transfer` receives the snapshot; `role` switches sides; `failover` hands
//! the primary role over to a replica; `report` is INFO and ROLE. The stream itself is applied
//! where commands are admitted (`front::following`).

pub(crate) mod cron;
pub(crate) mod failover;
pub(crate) mod follower;
pub(crate) mod handshake;
pub(crate) mod primary;
pub(crate) mod report;
pub(crate) mod role;
pub(crate) mod transfer;

#[cfg(test)]
mod tests;
