//! Why it happened, in words.
//!
//! In: a finding and the timeline that it was found in. Out: its [`cause`], from what the history
//! shows of it (`evidence`), the story in sentences that each rest on an event ([`narrative`]), and
//! what the [`literature`] and plain [`arithmetic`] say of the lock.

pub mod arithmetic;
pub mod cause;
mod evidence;
pub mod literature;
pub(crate) mod narrate;
pub mod narrative;
pub mod order;
mod scene;
pub(crate) mod words;
