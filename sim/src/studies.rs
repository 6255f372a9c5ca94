//! Studies, each of which answers one question with many runs.
//!
//! A study turns a request into a document of `fencepost_reports`. [`sweep`] runs many seeds,
//! [`boundary`] finds the value at which a lock breaks, [`load`] measures the cost of waiting, and
//! [`explore`] runs every plan of a given size. [`gallery`] makes pages about anomalies,
//! [`reality`] replays violations on real servers, and [`script`] exports them. `play` only injects
//! a plan in real time.

#[doc(hidden)]
pub mod bench;
pub mod boundary;
pub mod explore;
pub mod gallery;
pub mod load;
pub(crate) mod play;
pub mod reality;
pub(crate) mod retest;
pub mod script;
pub(crate) mod seed;
pub mod sweep;
