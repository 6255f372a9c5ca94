//! The system calls that the tracer makes. All unsafe code of the crate is in this folder.

pub(crate) mod clock_pages;
pub(crate) mod filter;
pub(crate) mod memory;
pub(crate) mod spawn;
pub(crate) mod ticker;
pub(crate) mod trace;
