//! Access to keys, and notifications of their changes.

pub(crate) mod access;
pub(crate) mod eviction;
pub(crate) mod expiry;
pub(crate) mod notify;
pub(crate) mod propagation;
pub(crate) mod publish;
pub(crate) mod sends;
pub(crate) mod tap;
pub(crate) mod watches;
