//! Opens, closes, blocks and pauses client connections.

pub(crate) mod blocking;
pub(crate) mod connections;
pub(crate) mod output_limit;
pub(crate) mod pause;
pub(crate) mod replicas;
pub(crate) mod waiting;
