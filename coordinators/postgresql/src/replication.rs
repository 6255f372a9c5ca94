//! Streaming replication from a primary to a standby, whose disk a synchronous commit waits for.
//!
//! Frames: `w` with a part of the log (in our own format), `r` with the standby's progress, `k` to
//! request that. Both servers start as copies, as after pg_basebackup.
//!
//! Source: PostgreSQL's documentation, "Streaming Replication Protocol". Not modelled: more than
//! one timeline behind a standby, cascades, slots, and conflicts between queries and replay.

pub(crate) mod receiver;
pub(crate) mod replay;
pub(crate) mod sender;
