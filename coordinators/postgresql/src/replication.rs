//! Streaming replication from a primary to a standby. A synchronous commit waits until the standby
//! has it on disk. Source: PostgreSQL's documentation, "Streaming Replication Protocol". The frames
//! are `w` (a part of the log, in fencepost's own format), `r` (the standby's progress) and `k` (a
//! keepalive). Both servers start with the same data. Not modelled: several timelines, cascading
//! standbys, replication slots, and conflicts between queries and replay.

pub(crate) mod receiver;
pub(crate) mod replay;
pub(crate) mod sender;
