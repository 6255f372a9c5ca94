//! Studies: many runs for one question.
//!
//! In: a request. Out: a document of `fencepost_reports`: a [`sweep`] over seeds, the [`boundary`]
//! at which a lock breaks, the cost of waiting ([`load`]), every plan of a given size
//! ([`explore`]), the pages of the [`gallery`], a violation against real servers ([`reality`]),
//! or as a script for them ([`script`]).

#[doc(hidden)]
pub mod bench;
pub mod boundary;
pub mod explore;
pub mod gallery;
pub mod load;
pub mod reality;
pub(crate) mod retest;
pub mod script;
pub(crate) mod seed;
pub mod sweep;
