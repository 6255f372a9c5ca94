//! Runs every plan of a stated size at every place where it can matter.
//!
//! A base run has fixed latencies and starts and no fault. Its scout records every turn and
//! message. `plan/place.rs` then makes the plans with one more fault, before and after every event,
//! for every site and class of magnitude. A second fault is placed in the scout of the first
//! fault's run.

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
