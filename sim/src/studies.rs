//! Implements commands such as `sweep`, `boundary` and `explore`.

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
