//! The inputs of a run other than its seed, its lock and its faults.

pub mod lengths;
pub(crate) mod places;
pub(crate) mod roster;
pub mod scenario;
pub mod shard;
pub mod span;
