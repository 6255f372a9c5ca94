//! Seeds, virtual time and fault plans: what goes wrong in a run, when, and for how long, as data.
//!
//! Owns [`Seed`] and its named random streams, [`SimTime`], [`Node`] names, [`Fault`], [`FaultPlan`], drawing a plan from a
//! seed ([`generate`]) and shrinking one against a predicate. Must never know async, sockets, Redis or files.

pub mod draw;
pub mod fault;
pub mod node;
pub mod plan;
pub mod seed;
pub mod time;

pub use fault::{Direction, Fault};
pub use node::Node;
pub use plan::{FaultPlan, TimedFault};
pub use seed::{Seed, Stream};
pub use time::{Micros, SimTime};
