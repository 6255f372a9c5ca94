//! Software on the hosts of the world, such as coordinators, processes and storage.

pub mod coordinators;
pub(crate) mod deployment;
pub(crate) mod nemesis;
pub mod programs;
pub(crate) mod real;
pub mod storage;
pub(crate) mod workload;
