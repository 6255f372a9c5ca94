//! Every plan of a stated size at every place where it can matter: finds a counterexample, or
//! counts the runs without one.
//!
//! `plan` enumerates the plans, `run` runs them, `certificate` documents the runs.
//!
//! A base run has fixed latencies and fixed starts and no fault. Its scout is the same run with
//! every turn and message recorded. From a scout, `plan/place.rs` makes the plans with one fault
//! more: before and after every event, for every site, in every class of magnitude. A second fault
//! is placed in the scout of the run that the first one made. `run/trial.rs` runs a plan and judges
//! it; `run/work.rs` does that for all of them, plans with fewer faults first, over threads.
//! `run/survey.rs` says how many there are before they are placed, `certificate.rs` says what was
//! done, and checks what another run of it said.

pub mod certificate;
mod plan;
mod run;

#[cfg(test)]
mod tests;

pub use certificate::partial;
pub use plan::bounds::{Bounds, Grain, small_scenario};
pub use plan::level::Level;
pub use plan::place::Planned;
pub use plan::rule::Rule;
pub use plan::validate::InvalidBounds;
pub use run::ledger::{Ledger, Slice, Units};
pub use run::sum::Sum;
pub use run::survey::Survey;
pub use run::work::{Answer, Exploration, FailedPlan, Progress};
