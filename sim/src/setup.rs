//! What a run follows from besides its seed, its lock and its faults.
//!
//! In: flags and a scenario file. Out: values without behaviour: the [`scenario`] and the
//! [`lengths`] that `all` draws, the `roster` of who takes part, under which names they find each
//! other (`places`), and the slice of the seeds that is asked for ([`shard`]).

pub mod lengths;
pub(crate) mod places;
pub(crate) mod roster;
pub mod scenario;
pub mod shard;
pub mod span;
