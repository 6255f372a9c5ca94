//! Whether a history keeps the rules.
//!
//! In: a history. A [`timeline`] digests it once, each [`checker`] is a function from the timeline
//! to [`finding`]s, and [`phases`] says where the faults met the protocol. Out: findings, without
//! a word on why.

pub mod checker;
pub mod finding;
pub mod meaning;
pub mod phases;
pub mod timeline;
