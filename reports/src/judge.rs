//! Judges whether a history obeys the rules.
//!
//! A history is parsed once, into a [`timeline`]. Each [`checker`] is a function that returns the
//! [`finding`]s in a timeline, and `circle` finds circular waits over several locks. [`phases`]
//! returns the protocol phase in which each fault began. A finding does not state the cause of the
//! violation.

pub mod checker;
pub(crate) mod circle;
pub mod finding;
pub mod meaning;
pub mod phases;
pub mod timeline;
