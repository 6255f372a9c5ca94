//! Judges whether a history obeys the rules.
//!
//! A [`timeline`] parses the history once. Each [`checker`] is a function that returns the
//! [`finding`]s in a timeline. `circle` finds circular waits over several locks, and [`phases`]
//! returns the protocol phase in which each fault began. A finding does not state its cause.

pub mod checker;
pub(crate) mod circle;
pub mod finding;
pub mod meaning;
pub mod phases;
pub mod timeline;
