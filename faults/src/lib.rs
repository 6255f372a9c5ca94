//! Seeds, virtual time, and fault plans drawn from a seed with [`generate`](fn@generate).
//!
//! To choose when faults hit, call [`incidents`] and [`aim`] instead. [`shrink`](fn@shrink)
//! minimizes a plan. The crate has no Cargo features.

#![forbid(unsafe_code)]

pub mod aim;
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
