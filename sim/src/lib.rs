//! Runs distributed locks in a deterministic simulation under injected faults, and reports every
//! violation of mutual exclusion.
//!
//! One value walks one way: a seed draws a fault plan, the plan is run to a history, the history is
//! judged. Owns the world, engines, the nemesis, workloads, the storage, sweeps and the command
//! line; knows everything, and nothing below knows it.

#[doc(hidden)]
pub mod bench;
pub mod boundary;
pub mod cli;
pub mod coordinators;
mod deployment;
pub mod engine;
pub mod explore;
pub mod files;
pub mod fit;
pub mod gallery;
pub mod inquest;
pub mod lengths;
pub mod load;
mod nemesis;
mod parallel;
mod places;
pub mod programs;
mod recorder;
mod roster;
pub mod run;
pub mod scenario;
pub mod shard;
pub mod span;
pub mod storage;
pub mod sweep;
pub mod testing;
pub mod verdicts;
mod workload;
mod world;

pub use engine::{Engine, EngineError};
pub use fencepost_clients as clients;
pub use run::{RunOutcome, RunSpec};
pub use scenario::Scenario;
