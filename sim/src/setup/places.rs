//! By which names and ports the hosts of a run find each other and the lock.

/// The resource that the locks of a run guard.
pub(crate) const RESOURCE: &str = "lock:orders";
pub(crate) const STORAGE_PORT: u16 = 9000;
