//! Judges whether a history obeys the rules.
//!
//! A [`timeline`] parses the history once. Each [`checker`] is a function from the timeline to
//! [`finding`]s, and `circle` finds circular waits over several locks. [`phases`] returns the
//! protocol phase in which each fault began. Findings have no explanations.

pub mod checker;
pub(crate) mod circle;
pub mod finding;
pub mod meaning;
pub mod phases;
pub mod timeline;
