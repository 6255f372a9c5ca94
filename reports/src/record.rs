//! The record of a run, before judgement.
//!
//! In: events from the recorder. Out: a [`History`](history::History) that can have happened
//! ([`validate`]), with its [`digest`] and, on request, its messages.

pub mod checksum;
pub mod digest;
pub mod history;
pub mod programs;
#[cfg(test)]
pub(crate) mod story;
pub mod trace;
pub mod validate;
pub mod visible;
