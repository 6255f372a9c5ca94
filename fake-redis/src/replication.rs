//! A primary and its replicas, after Redis 7.0's replication.c.
//!
//! In: what REPLICAOF, PSYNC, FAILOVER and the other side say. Out: the stream and snapshots to
//! those who follow, acknowledgements to the primary. `primary` feeds replicas, `follower` and
//! `handshake` are a replica's link, `transfer` is the snapshot on its way, `role` changes sides,
//! `failover` hands the primary's place to a replica, `report` is INFO and ROLE. The stream itself
//! is applied further up, where commands are admitted (`front::following`).

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
