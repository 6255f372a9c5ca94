//! Judges whether a history obeys the rules.
//!
//! In: a history. A [`timeline`] digests it once, each [`checker`] is a function from the timeline
//! to [`finding`]s, `circle` finds those over several locks, and [`phases`] says where the faults
//! met the protocol. Out: findings, without explanations.

pub mod checker;
pub(crate) mod circle;
pub mod finding;
pub mod meaning;
pub mod phases;
pub mod timeline;
