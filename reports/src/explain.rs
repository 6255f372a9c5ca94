//! Explains findings in words.
//!
//! In: a finding and its timeline. Out: its [`cause`], from the history's `evidence`, the story in
//! sentences that each rest on an event ([`narrative`]), and the statements of the [`literature`]
//! and of [`arithmetic`] about the lock.

pub mod arithmetic;
pub mod cause;
mod evidence;
pub mod literature;
pub(crate) mod narrate;
pub mod narrative;
pub mod order;
mod scene;
pub(crate) mod words;
