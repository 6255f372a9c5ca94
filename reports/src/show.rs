//! Renders reports and sweeps.
//!
//! In: a report or a sweep. Out: text in one of the [`mod@format`]s. The `picture` of a run is data
//! that the pages draw. A document of another kind has its own table of [`view`]s.

pub mod format;
pub(crate) mod picture;
pub mod view;
