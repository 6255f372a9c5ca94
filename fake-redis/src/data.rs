//! Stored data and its serialized forms.
//!
//! `value` has the types of values, `keyspace` the keys with their expiry. In: changes decided
//! elsewhere. Out: the data. Nothing here depends on clients or commands.

pub(crate) mod append_only;
pub(crate) mod extended;
pub(crate) mod glob;
pub(crate) mod keyspace;
pub(crate) mod number;
pub(crate) mod random;
pub(crate) mod rdb;
pub(crate) mod value;
