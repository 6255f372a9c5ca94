//! Runs distributed locks in a deterministic simulation under injected faults, and reports every
//! violation of mutual exclusion.
//!
//! One value walks one way: a seed draws a fault plan, the plan is run to a history, the history is
//! judged. A run walks through the rooms in this order: [`setup`] is what it follows from; the
//! `world` has time, hosts and a network; [`hosts`] are what runs on them; the [`engine`] moves
//! them; [`run`] calls all of it. [`diagnosis`] runs it again to say why, [`studies`] run many,
//! and [`cli`] and [`testing`] are the two fronts. No room uses a later one.
//!
//! Entry points: [`testing`] for tests of a lock of one's own, [`RunSpec`] for a single run, the
//! program `fencepost` ([`cli`]) for all else. The crate has no features.

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
