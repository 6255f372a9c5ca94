//! Determines the cause of each finding, and explains it in words and with calculated bounds.

pub mod arithmetic;
pub mod cause;
mod evidence;
pub mod literature;
pub(crate) mod narrate;
pub mod narrative;
pub mod order;
mod scene;
pub(crate) mod words;
