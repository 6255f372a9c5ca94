//! Histories, the checkers that judge them, verdicts, and every output format.
//!
//! Owns [`History`] and all that is derived from it. Must never know async, sockets, or how a run is made: a recorded history can be
//! judged again years later.

pub mod history;

pub use history::{Action, Change, Event, Header, History, What};
