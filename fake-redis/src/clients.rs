//! Client connections: accepting, blocking and answering them.
//!
//! In: connections and bytes. Out: clients with a complete command in the queue, and replies to
//! clients whose wait is over.

pub(crate) mod blocking;
pub(crate) mod connections;
pub(crate) mod output_limit;
pub(crate) mod pause;
pub(crate) mod replicas;
pub(crate) mod waiting;
