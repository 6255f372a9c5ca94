//! What was written down of a run, before anybody judged it.
//!
//! In: events as the recorder tells them. Out: a [`History`](history::History) that can have
//! happened ([`validate`]), with its [`digest`] and, on request, what passed the wire.

pub mod checksum;
pub mod digest;
pub mod history;
pub mod programs;
#[cfg(test)]
pub(crate) mod story;
pub mod trace;
pub mod validate;
pub mod visible;
