//! What a server stores, and the forms in which it is written.
//!
//! `value` are the types of values, `keyspace` the keys with their times of expiry. In: changes
//! that were decided elsewhere. Out: what is there. Nothing here knows of clients or commands.

pub(crate) mod append_only;
pub(crate) mod extended;
pub(crate) mod glob;
pub(crate) mod keyspace;
pub(crate) mod number;
pub(crate) mod random;
pub(crate) mod rdb;
pub(crate) mod value;
