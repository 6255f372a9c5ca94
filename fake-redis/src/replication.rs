//! Replication between servers, following replication.c of Redis 7.0.

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
