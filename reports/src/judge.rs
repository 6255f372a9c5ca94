//! Judges whether a history obeys the rules. A [`timeline`] is a parsed history. Each [`checker`]
//! returns the [`finding`]s in a timeline, without their causes. `circle` finds circular waits, and
//! [`phases`] classifies faults.

pub mod checker;
pub(crate) mod circle;
pub mod finding;
pub mod meaning;
pub mod phases;
pub mod timeline;
