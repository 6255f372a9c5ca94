//! Runs every fault plan up to a stated size, with faults at every point where they can matter. A
//! base run has fixed latencies, fixed start times and no fault. A scout repeats the run and
//! records its turns and messages. From this record, `plan/place.rs` derives the plans with one
//! fault. A scout of such a plan yields the plans with one more fault.

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
