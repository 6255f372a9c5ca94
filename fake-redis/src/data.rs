//! The stored data and its serialized forms.

pub(crate) mod append_only;
pub(crate) mod decimal;
pub(crate) mod glob;
pub(crate) mod keyspace;
pub(crate) mod number;
pub(crate) mod random;
pub(crate) mod rdb;
pub(crate) mod value;
