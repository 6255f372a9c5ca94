//! Judges whether a history obeys the rules.
//!
//! A [`timeline`] parses the history once. Each [`checker`] is a function from the timeline to
//! [`finding`]s, and `circle` finds deadlocks over several locks. [`phases`] records in which phase
//! of the protocol each fault began. Findings have no explanations.

pub mod checker;
pub(crate) mod circle;
pub mod finding;
pub mod meaning;
pub mod phases;
pub mod timeline;
