//! Seeds, virtual time, and fault plans that [`generate`](fn@generate) draws from a seed.
//!
//! This example draws the pauses of a run, then minimizes the plan to one pause that barely
//! outlasts the lease:
//!
//! ```
//! use fencepost_faults::{FaultPlan, Micros, Seed, Setting, Topology, generate, shrink};
//!
//! let lease = Micros::from_secs(10);
//! let setting = Setting::new(Topology::Standalone, 3, lease);
//! let plan = generate(Seed(8), &"pause".parse()?, &setting);
//! assert_eq!(plan.faults.len(), 4);
//!
//! let outlasts = |plan: &FaultPlan| {
//!     plan.faults.iter().any(|timed| timed.fault.duration() > Some(lease))
//! };
//! let shrunk = shrink(&plan, 1_000, outlasts).ok_or("no pause outlasts the lease")?;
//! assert_eq!(shrunk.plan.faults.len(), 1);
//! assert_eq!(shrunk.plan.faults[0].fault.duration(), Some(Micros::from_millis(10_001)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! To move faults to chosen times, use [`incidents`] and [`aim`] instead of `generate`.

#![forbid(unsafe_code)]

pub mod aim;
mod as_text;
mod collision;
mod describe;
mod did_you_mean;
pub mod draw;
pub mod families;
pub mod family;
pub mod fault;
pub mod generate;
pub mod node;
pub mod plan;
pub mod seed;
pub mod setting;
pub mod shrink;
pub mod time;

pub use did_you_mean::did_you_mean;
pub use families::{Families, UnknownFamily};
pub use family::{FAMILIES, Family, Incident};
pub use fault::{Direction, Fault, FaultKind, Impact, OperatorCommand};
pub use generate::{DrawnIncident, generate, incidents, plan_of};
pub use node::Node;
pub use plan::{FaultPlan, TimedFault};
pub use seed::{Seed, Stream};
pub use setting::{
    Counts, CutOff, FailoverBy, InvalidSetting, Knobs, Setting, Spans, Topology, Victims, Window,
};
pub use shrink::{
    Boundary, Magnitude, ShrunkPlan, fewest_faults, magnitudes, shrink, with_magnitude,
};
pub use time::{Micros, SimTime};
