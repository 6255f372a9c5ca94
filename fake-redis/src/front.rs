//! The server as its driver sees it: inputs in, outputs out.
//!
//! In: an [`Input`](fencepost_machine::Input). `node` hands it on: `admission` and `dispatch`
//! choose and admit commands, `following` applies the primary's stream, `loading` the disk, `cron`
//! does what happens by itself, `interlude` what happens in the middle of a script. Out: what
//! `finish` lets go.

pub(crate) mod admission;
pub(crate) mod cron;
pub(crate) mod dispatch;
pub(crate) mod finish;
pub(crate) mod following;
pub(crate) mod interlude;
pub(crate) mod loading;
pub(crate) mod node;
mod operator;
