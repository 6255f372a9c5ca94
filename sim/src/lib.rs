//! Runs distributed locks in a deterministic simulation under injected faults, and reports every
//! violation of mutual exclusion.
//!
//! Entry points: [`testing`] for tests of your own lock, [`RunSpec`] for a single run, and the
//! program `fencepost` ([`cli`]). The crate has no features.

pub mod setup;

mod world;

pub mod hosts;

pub mod engine;

pub mod run;

pub mod diagnosis;

pub mod studies;

pub mod files;

pub mod testing;

pub mod cli;

pub use engine::{Engine, EngineError};
pub use fencepost_clients as clients;
pub use run::{RunOutcome, RunSpec};
pub use setup::scenario::Scenario;
