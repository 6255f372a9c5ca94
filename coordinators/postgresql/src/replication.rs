//! Streaming replication: a primary hands its log, as far as its own disk has it, to the standby
//! that follows it, and a commit waits for the standby where that is synchronous.
//!
//! A standby connects as any client does, says that it wants the log (`replication=true`), from
//! where (`START_REPLICATION`), and gets it in the frames of the real protocol: `w` with a part of
//! the log, `r` with how far the standby has come, `k` to ask for that. What is in the log is our
//! own ([`crate::wal`]). Both begin as copies of each other, as after pg_basebackup.
//!
//! Source: PostgreSQL's documentation, "Streaming Replication Protocol", and its settings
//! `wal_receiver_status_interval`, `wal_receiver_timeout`, `wal_sender_timeout` and
//! `wal_retrieve_retry_interval`, which are as PostgreSQL comes. Not modelled: more than one
//! timeline behind a standby, cascades, slots, and conflicts of queries with what is replayed.

pub(crate) mod receiver;
pub(crate) mod replay;
pub(crate) mod sender;
