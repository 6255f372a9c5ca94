//! Streaming replication from a primary to a standby.
//! Source: PostgreSQL's documentation, "Streaming Replication Protocol". Not modelled: standbys
//! that are several timelines behind, cascades, slots, and conflicts between queries and replay.

pub(crate) mod receiver;
pub(crate) mod replay;
pub(crate) mod sender;
