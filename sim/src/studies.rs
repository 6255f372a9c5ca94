//! Studies, each of which makes many runs to answer one question.
//!
//! A study takes a request and returns a document of `fencepost_reports`. The studies are a
//! [`sweep`] over seeds, the [`boundary`] at which a lock breaks, the cost of waiting ([`load`]),
//! every plan of a given size ([`explore`]), the pages of the [`gallery`], and a violation repeated
//! on real servers ([`reality`]) or exported as a script for them ([`script`]). `play` plays a plan
//! in real time, and returns no document.

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
