//! Studies: many runs for one question.
//!
//! In: what is asked for. Out: a document of `fencepost_reports`: a [`sweep`] over seeds, the
//! [`boundary`] from which a lock breaks, what waiting costs ([`load`]), every plan of a stated
//! size ([`explore`]), the pages of the [`gallery`], a violation against real servers
//! ([`reality`]).

#[doc(hidden)]
pub mod bench;
pub mod boundary;
pub mod explore;
pub mod gallery;
pub mod load;
pub mod reality;
pub(crate) mod retest;
pub(crate) mod seed;
pub mod sweep;
