//! Runs every plan of a stated size, with faults at every point where they can matter.
//!
//! A base run has fixed latencies, fixed start times and no fault. A scout records its turns and
//! messages. `plan/place.rs` then adds a fault before and after every event, for every site and
//! class of magnitude. A scout of the resulting run places a second fault.

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
