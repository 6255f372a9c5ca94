//! Judges whether a history obeys the rules. Each [`checker`] returns the [`finding`]s in a
//! [`timeline`], and [`phases`] returns the protocol phase in which each fault began.

pub mod checker;
pub(crate) mod circle;
pub mod finding;
pub mod meaning;
pub mod phases;
pub mod timeline;
