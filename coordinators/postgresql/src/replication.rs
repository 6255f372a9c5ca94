//! Streaming replication: a primary sends the synced part of its log to a standby. With synchronous
//! replication a commit waits for the standby.
//!
//! A standby connects like any client, asks for replication (`replication=true`) from a position
//! (`START_REPLICATION`), and receives frames of the real protocol: `w` with a part of the log, `r`
//! with the standby's progress, `k` to request that. The log's contents are in our own format
//! ([`crate::wal`]). Both servers start as copies of each other, as after pg_basebackup.
//!
//! Source: PostgreSQL's documentation, "Streaming Replication Protocol", and its settings
//! `wal_receiver_status_interval`, `wal_receiver_timeout`, `wal_sender_timeout` and
//! `wal_retrieve_retry_interval`, at their defaults. Not modelled: more than one timeline behind a
//! standby, cascades, slots, and conflicts between queries and replay.

pub(crate) mod receiver;
pub(crate) mod replay;
pub(crate) mod sender;
