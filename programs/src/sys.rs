//! System calls of the tracer. All unsafe code of this crate is in this folder.

pub(crate) mod clock_pages;
pub(crate) mod filter;
pub(crate) mod memory;
pub(crate) mod spawn;
pub(crate) mod ticker;
pub(crate) mod trace;
