//! The actors in the world.
//!
//! In: a setup. Out: a world with the servers of a [`coordinators`] entry, processes that follow
//! the `workload`, the guarded [`storage`], users' own [`programs`], `real` servers, and the
//! `nemesis`, which makes the faults of the plan happen. `deployment` puts each on its host.

pub mod coordinators;
pub(crate) mod deployment;
pub(crate) mod nemesis;
pub mod programs;
pub(crate) mod real;
pub mod storage;
pub(crate) mod workload;
