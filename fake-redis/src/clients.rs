//! How clients come and go, wait and are answered.
//!
//! In: connections and bytes. Out: clients with a complete command in the queue, and answers to
//! those who waited for something that has happened now.

pub(crate) mod blocking;
pub(crate) mod connections;
pub(crate) mod output_limit;
pub(crate) mod pause;
pub(crate) mod replicas;
pub(crate) mod waiting;
