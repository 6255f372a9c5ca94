//! Streaming replication from a primary to a standby. A synchronous commit waits for the standby's
//! disk. Both servers start with the same data.
//!
//! Source: PostgreSQL's documentation, "Streaming Replication Protocol". The log in `w` frames has
//! fencepost's own format. Not modelled: more than one timeline behind a standby, cascades, slots,
//! and conflicts between queries and replay.

pub(crate) mod receiver;
pub(crate) mod replay;
pub(crate) mod sender;
