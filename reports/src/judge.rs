//! Judges whether a history obeys the rules: each [`checker`] returns [`finding`]s.

pub mod checker;
pub(crate) mod circle;
pub mod finding;
pub mod meaning;
pub mod phases;
pub mod timeline;
