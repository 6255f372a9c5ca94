//! Studies, each of which answers one question with many runs. A study turns a request into a
//! document of `fencepost_reports`, except `play`, which injects a plan in real time.

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
