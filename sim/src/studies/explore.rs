//! Every plan of a stated size at every place where it can matter: a counterexample, or how much
//! was run without finding one.
//!
//! A [`base`] run has fixed latencies and fixed starts and no fault. Its [`scout`] is the same run
//! with every turn and message written down. From a scout, [`place`] makes the plans with one fault
//! more: before and after every event, for every [`site`], in every class of [`magnitude`]. A
//! second fault is placed in the scout of the run that the first one made. [`trial`] runs a plan
//! and judges it; [`work`] does that for all of them, plans with fewer faults first, over threads.
//! [`survey`] says how many there are before they are placed, [`certificate`] says what was done,
//! and checks what another run of it said.

mod base;
pub mod bounds;
pub mod certificate;
mod firsts;
mod ledger;
mod level;
mod magnitude;
mod order;
pub mod partial;
mod place;
mod prune;
mod scout;
mod site;
mod sum;
mod survey;
mod trial;
mod work;

#[cfg(test)]
mod tests;

pub use bounds::{Bounds, Grain, InvalidBounds, small_scenario};
pub use ledger::{Ledger, Slice, Units};
pub use level::Level;
pub use place::Planned;
pub use prune::Rule;
pub use sum::Sum;
pub use survey::Survey;
pub use work::{Answer, Exploration, FailedPlan, Progress};
