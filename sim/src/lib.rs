//! Runs distributed locks in a deterministic simulation under injected faults, and reports
//! violations of mutual exclusion.
//!
//! [`setup`] has the inputs of a run. The `world` has time, hosts and a network, and [`hosts`] has
//! the software on the hosts. An [`engine`] drives the world, and [`run`] makes a run.
//! [`diagnosis`] repeats a run with changes, and [`studies`] make many runs. [`cli`] and
//! [`testing`] are the front ends.
//!
//! Start with [`testing`] to test your own lock, or with [`RunSpec`] to make a single run.
//!
//! ```
//! use fencepost::{Engine, RunSpec, Scenario};
//! use std::rc::Rc;
//!
//! let lock = fencepost::clients::find("single-node").ok_or("no such lock")?;
//! let (seed, families) = (fencepost_faults::Seed(15), "pause".parse()?);
//! let spec = RunSpec::draw(seed, lock, &families, Rc::new(Scenario::default()));
//! let history = spec.run(Engine::Fast)?.history;
//! assert_eq!(fencepost_reports::judge(&history).verdict.name(), "violated");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
