//! The inputs of a run besides its seed, its lock and its faults.
//!
//! In: flags and a scenario file. Out: values without behaviour: the [`scenario`] and the
//! [`lengths`] that `all` draws, the `roster` of the participants, their addresses (`places`), and
//! the requested slice of the seeds ([`shard`]).

pub mod lengths;
pub(crate) mod places;
pub(crate) mod roster;
pub mod scenario;
pub mod shard;
pub mod span;
